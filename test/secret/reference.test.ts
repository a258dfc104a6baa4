// What a secret's variable may hold, as far as no store is asked.

import { afterEach, expect, test, vi } from "vitest";
import { readAccessKeys, readGatewayConfig } from "../../lib/config.ts";
import { opened } from "../../lib/secret.ts";
import { gatewayOver, KEY, REGION, record } from "../ec2/gateway.ts";
import { send, signedCall } from "../ec2/signed-call.ts";

const SETTINGS = { region: REGION, windows: { secretMs: 300_000, secretAgainMs: 10_000 } };
const ARN = "arn:aws:secretsmanager:us-east-1:000000000001:secret:nightporter/dev/access-keys-a1b2c3";
const PLAIN = {
  NIGHTPORTER_FLEET_FILE: "fleet.yaml",
  NIGHTPORTER_TABLE: "t",
  NIGHTPORTER_REGION: REGION,
  NIGHTPORTER_NATS_URL: "wss://nats.example.net",
  NIGHTPORTER_NATS_USER: "gateway",
};

afterEach(() => void vi.unstubAllEnvs());

test("a plain list of keys is the list itself, and wrong signatures ask nobody", async () => {
  const keys = readAccessKeys({ NIGHTPORTER_ACCESS_KEYS: JSON.stringify([KEY]) }, SETTINGS);
  expect(keys).toEqual([KEY]);
  const { handler } = gatewayOver([record()], {}, keys);
  const body = "Action=DescribeRegions";

  expect(await send(handler, await signedCall(body))).toMatchObject({ status: 200 });
  expect(await send(handler, await signedCall(body, { secretAccessKey: "wrong" }))).toMatchObject({
    status: 401,
  });
});

test.each([
  ["password", { NIGHTPORTER_NATS_PASSWORD: "p" }, { user: "gateway", password: "p" }],
  ["credentials", { NIGHTPORTER_NATS_CREDS: "c", NIGHTPORTER_NATS_PASSWORD: "p" }, { creds: "c" }],
  ["nothing", {}, { user: "gateway" }],
])("with a plain %s for NATS the settings are plain", (_, given, expected) => {
  const { nats } = readGatewayConfig({ ...PLAIN, ...given });
  expect(nats).toEqual({ url: PLAIN.NIGHTPORTER_NATS_URL, ...expected });
});

test.each([
  ["ssm:name"],
  ["ssm:/nightporter/dev/access-keys"],
  [`secretsmanager:${ARN}`],
  [`secretsmanager:${ARN.replace("arn:aws:", "arn:aws-us-gov:")}`],
  ["secretsmanager:arn:aws:secretsmanager:us-east-1:000000000001:secret:nightporter/dev/access-keys"],
])("%s is a reference", (reference) => {
  const keys = readAccessKeys({ NIGHTPORTER_ACCESS_KEYS: reference }, SETTINGS);
  expect(keys).not.toBeInstanceOf(Array);
});

test.each([
  ["ssm:"],
  ["ssm:nightporter/dev"],
  ["ssm:/a//b"],
  ["ssm:/nightporter/"],
  ["ssm: /nightporter/dev"],
  ["ssm:/nightporter/dev\n"],
  ["secretsmanager:nightporter/dev/access-keys"],
  ["secretsmanager:"],
  ["secretsmanager:arn:aws:ssm:us-east-1:000000000001:parameter/x"],
])("%j is refused in every secret's variable, with its name and what was expected", (text) => {
  const expected = (name: string) => new RegExp(`^${name} .*expected ssm:NAME .*secretsmanager:ARN`);
  const read = {
    NIGHTPORTER_ACCESS_KEYS: () => readAccessKeys({ NIGHTPORTER_ACCESS_KEYS: text }, SETTINGS),
    NIGHTPORTER_NATS_PASSWORD: () => readGatewayConfig({ ...PLAIN, NIGHTPORTER_NATS_PASSWORD: text }),
    NIGHTPORTER_NATS_CREDS: () => readGatewayConfig({ ...PLAIN, NIGHTPORTER_NATS_CREDS: text }),
  };
  for (const [name, reading] of Object.entries(read)) expect(reading).toThrow(expected(name));
});

test("a value that only looks like a malformed reference is not repeated", () => {
  const password = "ssm: my favourite";
  const read = () => readGatewayConfig({ ...PLAIN, NIGHTPORTER_NATS_PASSWORD: password });
  expect(read).toThrow("NIGHTPORTER_NATS_PASSWORD");
  expect(read).not.toThrow("favourite");
});

test("a missing variable is told what it may hold", () => {
  expect(() => readAccessKeys({}, SETTINGS)).toThrow(
    /^NIGHTPORTER_ACCESS_KEYS is not set; expected a JSON list .* ssm:NAME/,
  );
});

test("a store that nobody runs does not fail the cold start, and then the request, naming the variable", async () => {
  const [url, key] = ["http://127.0.0.1:9", "local"];
  const env = { AWS_ENDPOINT_URL_SSM: url, AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: key };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const keys = readAccessKeys({ NIGHTPORTER_ACCESS_KEYS: "ssm:/nightporter/dev/access-keys" }, SETTINGS);
  await opened(keys);
  const { handler } = gatewayOver([record()], {}, keys);

  expect(await send(handler, await signedCall("Action=DescribeRegions"))).toMatchObject({
    status: 503,
    code: "ServiceUnavailable",
    message: "The gateway cannot read its NIGHTPORTER_ACCESS_KEYS: ECONNREFUSED",
  });
});
