// The function as it is deployed, started with what its variables may hold.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build, DIST } from "../../infra/build.ts";
import { parseCloudFormation } from "../../infra/local/cloud-formation.ts";
import { httpEvent } from "../ec2/front-door.ts";
import { KEY, REGION } from "../ec2/gateway.ts";
import { signedCall } from "../ec2/signed-call.ts";
import { MISSING, Moto } from "./moto.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const BUNDLE = join(DIST, "functions", "ec2", "index.mjs");
const KEYS = JSON.stringify([KEY]);

/** As Lambda would: loads the handler, then calls it. Nobody else is there, so what it prints and how it ends is all. */
const CALL = `
  const { handler } = await import(process.argv[1]);
  const context = { awsRequestId: "r", getRemainingTimeInMillis: () => 20000 };
  const { statusCode, body } = await handler(JSON.parse(process.argv[2]), context);
  console.log(JSON.stringify({ statusCode, body }));
  process.exit();
`;

async function start(env: Record<string, string>) {
  const event = JSON.stringify(httpEvent(await signedCall("Action=DescribeRegions")));
  const child = spawn(process.execPath, ["--input-type=module", "-e", CALL, BUNDLE, event], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      NIGHTPORTER_TABLE: "t",
      NIGHTPORTER_FLEET_FILE: join(ROOT, "fleet.yaml"),
      NIGHTPORTER_REGION: REGION,
      NIGHTPORTER_NATS_URL: "ws://127.0.0.1:9",
      NIGHTPORTER_NATS_USER: "gateway",
      NIGHTPORTER_NATS_PASSWORD: "p",
      ...env,
    },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { started: code === 0, stdout, stderr };
}

beforeAll(() => build());

test("the function starts with plain secrets", async () => {
  const { stdout } = await start({ NIGHTPORTER_ACCESS_KEYS: KEYS });
  expect(stdout).toContain('"statusCode":200');
});

test.each([
  ["NIGHTPORTER_ACCESS_KEYS", "", "expected a JSON list"],
  ["NIGHTPORTER_ACCESS_KEYS", "[]", "expected a JSON list"],
  ["NIGHTPORTER_ACCESS_KEYS", "ssm:nightporter/keys", "expected ssm:NAME"],
  ["NIGHTPORTER_NATS_PASSWORD", "secretsmanager:nightporter/nats", "secretsmanager:ARN"],
])("the function does not start with %s=%j and says why", async (name, value, expected) => {
  const { started, stderr } = await start({ NIGHTPORTER_ACCESS_KEYS: KEYS, [name]: value });
  expect(started).toBe(false);
  expect(stderr).toContain(name);
  expect(stderr).toContain(expected);
});

describe.skipIf(MISSING)(MISSING ?? "secrets in a store", () => {
  let moto: Moto;
  beforeAll(async () => {
    moto = await Moto.start();
  });
  afterAll(() => moto?.[Symbol.asyncDispose]());

  test.each(["parameter", "secret"] as const)("in a %s are read by the bundle", async (kind) => {
    const keys = await moto[kind](KEYS);
    const password = await moto[kind]("p");
    const { stdout, stderr } = await start({
      ...moto.environment,
      NIGHTPORTER_ACCESS_KEYS: keys.reference,
      NIGHTPORTER_NATS_PASSWORD: password.reference,
    });
    expect(stdout, stderr).toContain('"statusCode":200');
  });

  test("that are not there keep it from starting", async () => {
    const { started, stderr } = await start({
      ...moto.environment,
      NIGHTPORTER_ACCESS_KEYS: KEYS,
      NIGHTPORTER_NATS_PASSWORD: "ssm:/nightporter/test/nowhere",
    });
    expect(started).toBe(false);
    expect(stderr).toContain("NIGHTPORTER_NATS_PASSWORD is ssm:/nightporter/test/nowhere");
    expect(stderr).toContain("ParameterNotFound");
  });
});

interface Service {
  params: { default: Record<string, string> };
  provider: { iam: { role: { statements: { Action: string[]; Resource: string }[] } } };
}

test("the role may read what the stage's parameters name, and no other stage's", () => {
  const { params, provider } = parseCloudFormation(
    readFileSync(join(ROOT, "serverless.yml"), "utf8"),
  ) as Service;
  const stage = `nightporter/$\{self:provider.stage}/`;
  const resources = provider.iam.role.statements
    .filter(({ Action }) => Action.some((action) => /^(ssm|secretsmanager):/.test(action)))
    .map(({ Resource }) => Resource);
  expect(resources).toHaveLength(2);
  expect(resources[0]!.endsWith(`:parameter/${stage}*`)).toBe(true);
  expect(resources[1]!.endsWith(`:secret:${stage}*`)).toBe(true);
  const { natsUrl: _, ...secrets } = params.default;
  for (const reference of Object.values(secrets)) expect(reference.startsWith(`ssm:/${stage}`)).toBe(true);
});
