// A Lambda sandbox that is frozen in the middle of a launch, while another finishes it.

import { DescribeInstancesCommand, EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTable, keys } from "../../lib/table.ts";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let ec2: EC2Client;

beforeAll(async () => {
  const windows = { ...TEST_WINDOWS, leaseMs: 2500, budgetMs: 2200, quietMs: 2000 };
  stack = await startStack({ nodes: "a=8x16,b=8x16", sandboxes: 4, windows });
  const { accessKeyId, secretAccessKey, region } = stack.ready;
  ec2 = new EC2Client({
    endpoint: stack.url,
    region,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
});

afterAll(async () => {
  ec2.destroy();
  await stack.stop();
});

const launch = (ClientToken: string) =>
  ec2.send(
    new RunInstancesCommand({
      ImageId: stack.ready.imageId,
      InstanceType: "t3.micro",
      MinCount: 2,
      MaxCount: 2,
      ClientToken,
    }),
  );

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) process.kill(pid, name);
}

/** Whether the record of this launch is claimed and not decided: its first attempt is on its way. */
async function isUnderWay(token: string): Promise<boolean> {
  const { account, accessKeyId, secretAccessKey, region, dynamodb } = stack.ready;
  process.env.AWS_ACCESS_KEY_ID = accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey;
  const table = createTable({ table: dynamodb.table, region, endpoint: dynamodb.url });
  return (await table.get(keys.launch(account, token)))?.phase === "launching";
}

test("a frozen gateway sandbox that thaws after another took its launch over changes nothing", async () => {
  await launch("warm up");
  const nodes = [stack.nodePid("a"), stack.nodePid("b")];
  const frozen = stack.sandboxes(0, "ec2");
  expect(frozen).toHaveLength(1);
  const before = stack.allStarts().length;

  // The nodes stand still, so the launch is on its way when its sandbox is frozen too.
  signal(nodes, "SIGSTOP");
  const first = launch("taken over").catch((error: unknown) => error);
  await eventually("the launch was sent", () => isUnderWay("taken over"));
  signal(frozen, "SIGSTOP");
  signal(nodes, "SIGCONT");
  const second = await eventually("another sandbox takes it over", () => launch("taken over"));
  const ids = second.Instances?.map(({ InstanceId }) => InstanceId);
  expect(ids).toHaveLength(2);

  signal(frozen, "SIGCONT");
  const answer = await first;
  if (!(answer instanceof Error)) {
    expect((answer as typeof second).Instances?.map(({ InstanceId }) => InstanceId)).toEqual(ids);
  }
  const { Reservations = [] } = await ec2.send(
    new DescribeInstancesCommand({ Filters: [{ Name: "client-token", Values: ["taken over"] }] }),
  );
  const live = Reservations.flatMap(({ Instances = [] }) => Instances).map(({ InstanceId }) => InstanceId);
  expect(live.sort()).toEqual([...(ids ?? [])].sort());
  expect(stack.allStarts()).toHaveLength(before + 2);
});
