import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lambdaContext } from "./front-door.ts";
import { gatewayOver, KEY, record } from "./gateway.ts";

const EVENTS = new URL("../events/", import.meta.url);
const examples = readdirSync(EVENTS).filter((file) => file.startsWith("ec2-"));
const read = (file: string) => JSON.parse(readFileSync(new URL(file, EVENTS), "utf8"));

const gateway = gatewayOver([record({ tags: [{ key: "Name", value: "from the console" }] })]);
const invoke = async (event: unknown) =>
  JSON.parse(JSON.stringify(await gateway.handler(event, lambdaContext())));

const REQUEST_ID = expect.stringMatching(/^[0-9a-f-]{36}$/);

test.each(examples)("the example %s is answered in JSON", async (file) => {
  const answer = await invoke(read(file));
  const expected = file.includes("dry-run") ? { error: { code: "DryRunOperation" } } : {};
  expect(answer).toMatchObject({ requestId: REQUEST_ID, ...expected });
  expect("error" in answer).toBe("error" in expected);
});

test("an event launches with typed parameters, for the first account", async () => {
  gateway.launches.length = 0;
  const answer = await invoke(read("ec2-run-instances.json"));
  expect(gateway.launches).toMatchObject([
    { minCount: 1, maxCount: 2, tags: [{ key: "Name", value: "from the console" }] },
  ]);
  expect(answer).toMatchObject({
    OwnerId: KEY.account,
    Instances: [{ LaunchTime: "2026-01-02T03:04:05.678Z", State: { Name: "running" } }],
  });
});

test.each([
  [{ Action: "DescribeInstances", "InstanceId.1": "i-0000000000000000a" }],
  [{ Action: "DescribeInstances", InstanceId: ["i-0000000000000000a"] }],
  [{ Action: "DescribeInstances", InstanceIds: ["i-0000000000000000a"] }],
  [{ Action: "DescribeInstances", Filters: [{ Name: "instance-type", Values: ["t3.*"] }], NextToken: null }],
])("%j finds its instance", async (event) => {
  expect(await invoke(event)).toMatchObject({
    Reservations: [{ Instances: [{ InstanceId: "i-0000000000000000a" }] }],
  });
});

test.each<[unknown, string]>([
  [{}, "MissingAction"],
  [null, "MissingAction"],
  ["RunInstances", "MissingAction"],
  [[{ Action: "DescribeInstances" }], "MissingAction"],
  [{ Action: "Fly" }, "InvalidAction"],
  [{ Action: "DescribeInstances", colour: "red" }, "UnknownParameter"],
  [{ Action: "DescribeInstances", MaxResults: 1 }, "InvalidParameterValue"],
  [{ Action: "RunInstances", MinCount: 1 }, "MissingParameter"],
  [{ Action: "TerminateInstances", InstanceId: ["foo"] }, "InvalidInstanceID.Malformed"],
])("%j is refused as %s", async (event, code) => {
  expect(await invoke(event)).toEqual({
    requestId: REQUEST_ID,
    error: { code, message: expect.stringMatching(/./) },
  });
});
