// An instance's life as botocore sees it, on real nodes: the stack that `npm start` runs.

import { afterAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startStack } from "../support/stack.ts";
import { openAwsModel } from "./aws-model.ts";

const stack = await startStack({ nodes: "a=2x4,b=4x8" });
const model = openAwsModel();
afterAll(async () => {
  model[Symbol.dispose]();
  await stack.stop();
});

const { region, accessKeyId: key, secretAccessKey: secret, imageId } = stack.ready;
const call = (action: string, params: object = {}) =>
  model.ask({ do: "call", action, params, endpoint: stack.url, region, key, secret });

interface Item {
  InstanceId: string;
  State: { Name: string };
  Tags: { Key: string; Value: string }[];
}
const listed = async (params: object): Promise<Item[]> =>
  (await call("DescribeInstances", params)).answer.Reservations.flatMap(
    ({ Instances }: { Instances: Item[] }) => Instances,
  );

async function reached(ids: string[], state: string): Promise<void> {
  await eventually(`${ids} are ${state}`, async () =>
    (await listed({ InstanceIds: ids })).every(({ State }) => State.Name === state),
  );
}

test("instances are launched, found, stopped, started, rebooted and ended, each with its true states", async () => {
  const { answer: launched } = await call("RunInstances", {
    ImageId: imageId,
    InstanceType: "t3.medium",
    MinCount: 3,
    MaxCount: 3,
    TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "Name", Value: "ä & <b>" }] }],
  });
  const ids = launched.Instances.map(({ InstanceId }: Item) => InstanceId);
  expect(launched.Instances.map(({ AmiLaunchIndex }: { AmiLaunchIndex: number }) => AmiLaunchIndex)).toEqual([
    0, 1, 2,
  ]);
  const moves = async (action: string, list: string) =>
    (await call(action, { InstanceIds: ids })).answer[list].map(
      (one: { InstanceId: string; PreviousState: { Name: string }; CurrentState: { Name: string } }) =>
        [one.InstanceId, one.PreviousState.Name, one.CurrentState.Name] as const,
    );
  const all = (previous: string, current: string) => ids.map((id: string) => [id, previous, current]);

  await reached(ids, "running");
  const found = await listed({ Filters: [{ Name: "tag:Name", Values: ["ä &*"] }] });
  expect(found.map(({ InstanceId }) => InstanceId)).toEqual(ids);
  expect(await moves("StartInstances", "StartingInstances")).toEqual(all("running", "running"));
  expect((await call("RebootInstances", { InstanceIds: ids })).error).toBeUndefined();
  expect(await moves("StopInstances", "StoppingInstances")).toEqual(all("running", "stopping"));
  await reached(ids, "stopped");
  expect(await moves("StartInstances", "StartingInstances")).toEqual(all("stopped", "pending"));
  await reached(ids, "running");
  expect(await moves("TerminateInstances", "TerminatingInstances")).toEqual(all("running", "shutting-down"));
  await reached(ids, "terminated");
  expect(await moves("TerminateInstances", "TerminatingInstances")).toEqual(all("terminated", "terminated"));
});

test("unknown instances are all named, and nothing happens to the known one", async () => {
  const { answer } = await call("RunInstances", {
    ImageId: imageId,
    InstanceType: "t3.nano",
    MinCount: 1,
    MaxCount: 1,
  });
  const known = answer.Instances[0].InstanceId;
  const strangers = ["i-00000000000000001", "i-00000000000000002"];

  const { error } = await call("TerminateInstances", { InstanceIds: [strangers[0], known, strangers[1]] });

  expect(error.Error).toMatchObject({
    Code: "InvalidInstanceID.NotFound",
    Message: `The instance IDs '${strangers.join(", ")}' do not exist`,
  });
  await reached([known], "running");
});

test("a dry run launches nothing and leaves its client token unused", async () => {
  const params = {
    ImageId: imageId,
    InstanceType: "t3.nano",
    MinCount: 1,
    MaxCount: 1,
    ClientToken: "a token:",
  };
  const before = stack.allStarts().length;

  const { error } = await call("RunInstances", { ...params, DryRun: true });

  expect(error).toMatchObject({
    Error: { Code: "DryRunOperation" },
    ResponseMetadata: { HTTPStatusCode: 412 },
  });
  expect(stack.allStarts()).toHaveLength(before);
  expect((await call("RunInstances", { ...params, MaxCount: 2 })).answer.Instances).toHaveLength(2);
});
