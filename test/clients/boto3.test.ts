// boto3: one life of instances by its client and one by its resources, with its own waiters and paginators.

import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { INSTANCE_TYPES } from "../../lib/capacity.ts";
import { awsEnvironment, require, run } from "../support/command.ts";
import { type Stack, startStack } from "../support/stack.ts";

const LIFE = join(import.meta.dirname, "boto3-life.py");
const MISSING =
  "boto3 is not there for python3: install it with `apt-get install python3-boto3` or `pip install boto3`";

let stack: Stack;

beforeAll(async () => {
  await require("python3", ["-c", "import boto3"], MISSING);
  stack = await startStack({ nodes: "a=4x8,b=2x4" });
});

afterAll(() => stack?.stop());

async function live(life: "client" | "resource" | "refused") {
  const { region, accessKeyId, secretAccessKey, imageId } = stack.ready;
  const given = JSON.stringify({ url: stack.url, region, accessKeyId, secretAccessKey, imageId });
  const { code, stdout, stderr } = await run("python3", [LIFE, life, given], awsEnvironment(stack));
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test("the client launches, waits, finds, stops, starts, reboots and terminates", async () => {
  const seen = await live("client");

  const both = <T>(one: T) => [one, one];
  expect(seen).toMatchObject({
    indexes: [0, 1],
    stop: both(["running", "stopping"]),
    start: both(["stopped", "pending"]),
    reboot: 200,
    terminate: both(["running", "shutting-down"]),
    regions: [stack.ready.region],
    zones: [`${stack.ready.region}a`],
  });
  expect(seen.found).toEqual(expect.arrayContaining(seen.launched));
  expect(seen.types.toSorted()).toEqual(Object.keys(INSTANCE_TYPES).toSorted());
  expect(stack.allStarts()).toEqual(expect.arrayContaining(seen.launched));
});

test("the resources create, reload, wait, filter, stop, start, reboot and terminate", async () => {
  const seen = await live("resource");

  expect(seen).toMatchObject({
    created: "pending",
    reloaded: ["running", "t3.micro", stack.ready.imageId, 0, [{ Key: "of", Value: "boto3" }]],
    stopped: ["stopped", "Client.UserInitiatedShutdown"],
    terminated: "terminated",
  });
  expect(seen.launched).toHaveLength(2);
  expect(seen.running).toEqual(seen.launched.toSorted());
});

test("refusals are ClientErrors with EC2's codes", async () => {
  expect(await live("refused")).toEqual({
    full: ["InsufficientInstanceCapacity", 503],
    dry: ["DryRunOperation", 412],
    image: ["InvalidAMIID.NotFound", 400],
    unknown: ["InvalidInstanceID.NotFound", 400],
    "unknown to stop": ["InvalidInstanceID.NotFound", 400],
    malformed: ["InvalidInstanceID.Malformed", 400],
  });
});
