// The `aws` command line: one life of instances, and what it tells a person.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { awsEnvironment, require, run } from "../support/command.ts";
import { type Stack, startStack } from "../support/stack.ts";

const MISSING =
  "the AWS command line is not on PATH: install it with `apt-get install awscli` or `pip install awscli`";

let stack: Stack;

beforeAll(async () => {
  await require("aws", ["--version"], MISSING);
  stack = await startStack({ nodes: "a=4x8,b=2x4" });
});

afterAll(() => stack?.stop());

const call = (...args: string[]) =>
  // Before AWS_ENDPOINT_URL_EC2 there was only the flag.
  run("aws", ["ec2", "--endpoint-url", stack.url, "--output", "json", ...args], awsEnvironment(stack));

/** @returns what it printed, parsed, or undefined when that is nothing */
// biome-ignore lint/suspicious/noExplicitAny: what comes back is whatever was asked for
async function aws(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await call(...args);
  expect(code, stderr).toBe(0);
  return stdout.trim() ? JSON.parse(stdout) : undefined;
}

const launch = (count: number | string) =>
  aws(
    ...["run-instances", "--image-id", stack.ready.imageId, "--instance-type", "t3.micro"],
    ...["--count", String(count)],
    ...["--tag-specifications", "ResourceType=instance,Tags=[{Key=Name,Value=a b},{Key=of,Value=cli}]"],
  );

const idsOf = (reservation: { Instances: { InstanceId: string }[] }) =>
  reservation.Instances.map(({ InstanceId }) => InstanceId);

describe("one life", () => {
  let ids: string[];

  test("run-instances launches across nodes, and `wait instance-running` sees them run", async () => {
    ids = idsOf(await launch(3));
    await aws("wait", "instance-running", "--instance-ids", ...ids);
    expect(stack.allStarts().toSorted()).toEqual(ids.toSorted());
  });

  test("describe-instances finds them by --filters and shows what --query asks for", async () => {
    const shown = await aws(
      ...[
        "describe-instances",
        "--filters",
        "Name=tag:Name,Values=a ?",
        "Name=instance-state-name,Values=running",
      ],
      ...["--query", "Reservations[].Instances[].{id: InstanceId, name: Tags[?Key=='Name'].Value | [0]}"],
    );
    expect(shown).toHaveLength(ids.length);
    expect(shown).toEqual(expect.arrayContaining(ids.map((id) => ({ id, name: "a b" }))));
  });

  test("stop-instances, `wait instance-stopped` and start-instances take them there and back", async () => {
    const stopping = await aws("stop-instances", "--instance-ids", ...ids);
    expect(stopping.StoppingInstances.map((one: { InstanceId: string }) => one.InstanceId)).toEqual(ids);
    await aws("wait", "instance-stopped", "--instance-ids", ...ids);

    const starting = await aws("start-instances", "--instance-ids", ...ids);
    expect(starting.StartingInstances[0].PreviousState).toEqual({ Code: 80, Name: "stopped" });
  });

  test("reboot-instances says nothing, terminate-instances and `wait instance-terminated` end them", async () => {
    expect(await aws("reboot-instances", "--instance-ids", ids[0]!)).toBeUndefined();
    const ending = await aws("terminate-instances", "--instance-ids", ...ids);
    expect(ending.TerminatingInstances).toHaveLength(ids.length);
    await aws("wait", "instance-terminated", "--instance-ids", ...ids);
  });
});

test("describe-instance-types, describe-regions and describe-availability-zones answer", async () => {
  const [{ InstanceTypes }, { Regions }, { AvailabilityZones }] = await Promise.all([
    aws("describe-instance-types", "--instance-types", "t3.micro"),
    aws("describe-regions"),
    aws("describe-availability-zones"),
  ]);
  expect(InstanceTypes).toMatchObject([{ InstanceType: "t3.micro", VCpuInfo: { DefaultVCpus: 2 } }]);
  expect(Regions).toMatchObject([{ RegionName: stack.ready.region }]);
  expect(AvailabilityZones).toMatchObject([{ RegionName: stack.ready.region, State: "available" }]);
});

test("a refusal is told in words that name the code and the call", async () => {
  const starts = stack.allStarts();
  const input = ["--image-id", stack.ready.imageId, "--instance-type", "t3.micro", "--count", "4"];

  const { code, stderr } = await call("run-instances", ...input);

  expect(code).not.toBe(0);
  expect(stderr).toContain("(InsufficientInstanceCapacity) when calling the RunInstances operation");
  expect(stderr).toContain("no room for 4 x t3.micro");
  expect(stack.allStarts()).toEqual(starts);
});
