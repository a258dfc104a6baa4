import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DescribeInstancesCommand, EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import { afterAll, expect, test } from "vitest";
import { build } from "../../infra/build.ts";
import { Stack, spawnStack, startStack } from "../support/stack.ts";
import { openHouse } from "./house.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const house = openHouse();
afterAll(() => house[Symbol.asyncDispose]());

function ec2Client({ ready }: Stack, gateway = 0): EC2Client {
  const { accessKeyId, secretAccessKey, region } = ready;
  const credentials = { accessKeyId, secretAccessKey };
  return new EC2Client({ region, endpoint: ready.gateways[gateway]!.url, credentials, maxAttempts: 1 });
}

const oneMicro = (stack: Stack) =>
  new RunInstancesCommand({
    ImageId: stack.ready.imageId,
    InstanceType: "t3.micro",
    MinCount: 1,
    MaxCount: 1,
  });

test("it says that it is ready in exactly one line, and then a launch works through any gateway", async () => {
  const { child, lines, stderr } = spawnStack({ fleet: join(ROOT, "fleet.yaml"), gateways: 2 });
  const said: string[] = [];
  lines.on("line", (line) => said.push(line));
  await new Promise((resolve) => lines.once("line", resolve));
  await using stack = new Stack(child, JSON.parse(said[0]!), stderr);

  expect(stack.ready).toMatchObject({
    ready: true,
    gateways: [{ pid: expect.any(Number) }, { pid: expect.any(Number) }],
    nodes: ["box-1", "box-2", "box-3"].map((name) => ({ name, pid: expect.any(Number) })),
    nats: { url: expect.stringMatching(/^ws:/), tcpUrl: expect.stringMatching(/^nats:/), user: "gateway" },
    dynamodb: { url: expect.stringMatching(/^http:/), table: "nightporter", pid: expect.any(Number) },
    region: "us-east-1",
    account: "000000000001",
    imageId: "ami-0000000000000000a",
  });
  const { Instances } = await ec2Client(stack, 0).send(oneMicro(stack));
  const { Reservations } = await ec2Client(stack, 1).send(new DescribeInstancesCommand({}));
  expect(Reservations?.[0]?.Instances?.[0]?.InstanceId).toBe(Instances?.[0]?.InstanceId);
  expect(stack.allStarts()).toEqual([Instances?.[0]?.InstanceId]);

  await stack.stop();
  expect(said).toHaveLength(1);
});

test("beyond --sandboxes a function answers 429, and each gateway counts for itself", async () => {
  await using stack = await startStack({ nodes: 1, gateways: 2, sandboxes: 1 });
  const [health] = stack.sandboxes(0, "inference");
  process.kill(health!, "SIGSTOP");
  // Two are in flight at the first gateway: one holds its only sandbox, which is frozen.
  const first = fetch(`${stack.url}/health`);
  const refused = await fetch(`${stack.url}/health`);
  const other = await fetch(`${stack.ready.gateways[1]!.url}/health`);
  process.kill(health!, "SIGCONT");

  expect([refused.status, await refused.json()]).toEqual([429, { message: "Too Many Requests" }]);
  expect([other.status, (await first).status]).toEqual([200, 200]);
});

test("the local table has the key that serverless.yml deploys", async () => {
  await using stack = await startStack({ nodes: 1 });
  const { dynamodb, region, accessKeyId, secretAccessKey } = stack.ready;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new DynamoDBClient({ endpoint: dynamodb.url, region, credentials });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: dynamodb.table }));

  expect(Table?.KeySchema).toEqual([{ AttributeName: "pk", KeyType: "HASH" }]);
  expect(readFileSync(join(ROOT, "infra/resources/table.yml"), "utf8")).toContain("AttributeName: ttl");
});

test("each function's bundle loads by itself, far from node_modules", async () => {
  const bundles = (await build()).filter(({ name }) => name !== "node");
  const load = `globalThis.awslambda = { streamifyResponse: (f) => f }; await import(process.argv[1]);`;
  for (const { name, folder } of bundles) {
    const apart = join(house.folder, name);
    cpSync(folder, apart, { recursive: true });
    const args = ["--input-type=module", "-e", load, join(apart, "index.mjs")];
    const { stderr } = spawnSync(process.execPath, args, { cwd: house.folder, env: {}, encoding: "utf8" });

    // A function that wants settings says so; a bundle that cannot be loaded fails before it can.
    expect(stderr).not.toMatch(/Dynamic require|ERR_MODULE_NOT_FOUND|SyntaxError/);
  }
});
