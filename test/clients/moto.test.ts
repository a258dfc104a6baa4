// moto as an independent peer: the same calls, made of it and of us, are answered with the same keys.
//
// Where moto is not there this is skipped: Debian does not package it.

import {
  DescribeAvailabilityZonesCommand,
  DescribeInstancesCommand,
  type DescribeInstancesCommandOutput,
  DescribeInstanceTypesCommand,
  DescribeRegionsCommand,
  EC2Client,
  type InstanceStateChange,
  RebootInstancesCommand,
  RunInstancesCommand,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { startMoto } from "../support/moto.ts";
import { type Stack, startStack } from "../support/stack.ts";

/** THE TABLE of keys that only moto answers with, by how they begin, and why we do not. */
const ONLY_MOTO: Record<string, string> = {
  "Instance.BlockDeviceMappings[].": "a guest's disk is a copy of its image and no volume that has a name",
  "Instance.NetworkInterfaces[].": "a node's network is its owner's; there are no interfaces to attach",
  "Instance.SubnetId": "there are no subnets, and Terraform would ask about one",
  "Instance.VpcId": "there are no VPCs, and Terraform would ask about one",
  "Instance.PrivateIpAddress": "a guest of the memory driver has no address",
  "Instance.PublicIpAddress": "a guest of the memory driver has no address",
  "Instance.SriovNetSupport": "an attribute of old instance types",
  "Instance.Platform": "only Windows has one; moto's images are Windows",
  "Instance.KernelId": "an image boots its own kernel; moto's images name an empty one",
  "Instance.StateReason": "there is one only after a change that has a reason; moto has an empty one before",
  "InstanceType.EbsInfo.": "there are no volumes over a network",
  "InstanceType.InstanceStorageInfo": "how large a guest's disk is depends on its image",
  "InstanceType.NetworkInfo.": "a node's network is what its owner made it",
  "InstanceType.ProcessorInfo.": "a node's processor is its owner's",
  "InstanceType.VCpuInfo.Valid": "a guest has the vCPUs of its type",
  "InstanceType.GpuInfo.Gpus[].": "logical GPUs and workloads are AWS's own marketing of them",
  "InstanceType.Nitro": "nodes are no Nitro machines",
  "InstanceType.PhcSupport": "nodes have no such clock",
  "InstanceType.RebootMigrationSupport": "a guest stays on its node",
};

/** THE TABLE of keys that only we answer with, and for whom. */
const ONLY_OURS: Record<string, string> = {
  "Instance.EnaSupport": "Terraform compares it",
  "Instance.CpuOptions": "Terraform compares it",
  "Instance.CapacityReservationSpecification": "Terraform compares it",
  "Instance.HibernationOptions.": "Terraform compares it",
  "Instance.EnclaveOptions": "Terraform compares it",
  "Instance.PrivateDnsNameOptions": "Terraform compares it",
  "Instance.MaintenanceOptions": "Terraform compares it",
  "Instance.PublicDnsName": "it is there and empty; moto leaves it out while an instance does not run",
  "AvailabilityZone.OptInStatus": "AWS's answer has it",
  "AvailabilityZone.GroupName": "AWS's answer has it",
  "AvailabilityZone.NetworkBorderGroup": "AWS's answer has it",
};

const UNKNOWN = { InstanceIds: ["i-00000000000000001", "i-00000000000000002"] };
const ZONE = "us-east-1a";

interface Caller {
  ec2: EC2Client;
  launch: { ImageId: string; InstanceType: "t3.micro"; MinCount: number; MaxCount: number };
  /** Of the two instances, once there are some. */
  ids: { InstanceIds: string[] };
}

/** Waits until the first of them is in that state. @returns the answer that shows it */
async function shown({ ec2, ids }: Caller, state: string): Promise<object> {
  let answer: DescribeInstancesCommandOutput;
  await eventually(state, async () => {
    answer = await ec2.send(new DescribeInstancesCommand(ids));
    return answer.Reservations?.[0]?.Instances?.[0]?.State?.Name === state;
  });
  return answer!;
}

const tagged = ({ ec2 }: Caller, value: string) =>
  ec2.send(new DescribeInstancesCommand({ Filters: [{ Name: "tag:Name", Values: [value] }] }));

async function run(caller: Caller) {
  const Tags = [{ Key: "Name", Value: "peer" }];
  const TagSpecifications = [{ ResourceType: "instance" as const, Tags }];
  const launched = await caller.ec2.send(new RunInstancesCommand({ ...caller.launch, TagSpecifications }));
  caller.ids = { InstanceIds: launched.Instances!.map(({ InstanceId }) => InstanceId!) };
  return launched;
}

/** One life of two instances, in order. */
const LIFE: readonly [call: string, make: (caller: Caller) => Promise<object>][] = [
  ["RunInstances", run],
  ["DescribeInstances of running ones", (caller) => shown(caller, "running")],
  ["DescribeInstances by a tag", (caller) => tagged(caller, "peer")],
  ["DescribeInstances that finds none", (caller) => tagged(caller, "nobody")],
  ["StopInstances", ({ ec2, ids }) => ec2.send(new StopInstancesCommand(ids))],
  ["DescribeInstances of stopped ones", (caller) => shown(caller, "stopped")],
  ["StartInstances", ({ ec2, ids }) => ec2.send(new StartInstancesCommand(ids))],
  ["RebootInstances", ({ ec2, ids }) => ec2.send(new RebootInstancesCommand(ids))],
  ["TerminateInstances", ({ ec2, ids }) => ec2.send(new TerminateInstancesCommand(ids))],
  ["DescribeInstances of terminated ones", (caller) => shown(caller, "terminated")],
  [
    "DescribeInstanceTypes",
    ({ ec2 }) => ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["t3.micro", "g5.xlarge"] })),
  ],
  ["DescribeRegions", ({ ec2 }) => ec2.send(new DescribeRegionsCommand({ RegionNames: ["us-east-1"] }))],
  [
    "DescribeAvailabilityZones",
    ({ ec2 }) => ec2.send(new DescribeAvailabilityZonesCommand({ ZoneNames: [ZONE] })),
  ],
];

/** Calls that both refuse. */
const REFUSED: readonly [call: string, make: (caller: Caller) => Promise<object>][] = [
  [
    "RunInstances with DryRun",
    ({ ec2, launch }) => ec2.send(new RunInstancesCommand({ ...launch, DryRun: true })),
  ],
  ["DescribeInstances of unknown ids", ({ ec2 }) => ec2.send(new DescribeInstancesCommand(UNKNOWN))],
  ["StopInstances of unknown ids", ({ ec2 }) => ec2.send(new StopInstancesCommand(UNKNOWN))],
  ["StartInstances of unknown ids", ({ ec2 }) => ec2.send(new StartInstancesCommand(UNKNOWN))],
  ["RebootInstances of unknown ids", ({ ec2 }) => ec2.send(new RebootInstancesCommand(UNKNOWN))],
  ["TerminateInstances of unknown ids", ({ ec2 }) => ec2.send(new TerminateInstancesCommand(UNKNOWN))],
  [
    "DescribeInstances of ids and MaxResults",
    ({ ec2, ids }) => ec2.send(new DescribeInstancesCommand({ ...ids, MaxResults: 5 })),
  ],
  [
    "DescribeInstanceTypes of an unknown type",
    ({ ec2 }) =>
      ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["nothing.large" as "t3.micro"] })),
  ],
];

const moto = await startMoto();
let stack: Stack;
let them: Caller;
let us: Caller;
const answers = new Map<string, { theirs: object; ours: object }>();

function callerOf(endpoint: string): Caller {
  const { region, accessKeyId, secretAccessKey, imageId: ImageId } = stack.ready;
  const credentials = { accessKeyId, secretAccessKey };
  const ec2 = new EC2Client({ endpoint, region, credentials, maxAttempts: 1 });
  return { ec2, launch: { ImageId, InstanceType: "t3.micro", MinCount: 2, MaxCount: 2 }, ids: UNKNOWN };
}

beforeAll(async () => {
  if (typeof moto === "string") return;
  stack = await startStack({ nodes: 1 });
  [them, us] = [callerOf(moto.url), callerOf(stack.url)];
  for (const [call, make] of LIFE) answers.set(call, { theirs: await make(them), ours: await make(us) });
});

afterAll(async () => {
  await stack?.stop();
  if (typeof moto !== "string") await moto[Symbol.asyncDispose]();
});

beforeEach(({ skip }) => {
  if (typeof moto === "string") skip(moto);
});

/** All keys of an answer and the kind of value each has: `Instance.State.Code number`, whatever list it is in. */
function keysOf({ $metadata, ...members }: { $metadata?: unknown }): Set<string> {
  const keys = new Set<string>();
  const walk = (at: string, value: unknown): void => {
    if (Array.isArray(value)) {
      keys.add(`${at}[]`);
      for (const member of value) if (typeof member === "object") walk(`${at}[]`, member);
    } else if (value instanceof Date) keys.add(`${at} date`);
    else if (typeof value !== "object" || value === null) keys.add(`${at} ${typeof value}`);
    else for (const [name, member] of Object.entries(value)) walk(at ? `${at}.${name}` : name, member);
  };
  walk("", members);
  const item = /^.*?\b(Instance|InstanceType|AvailabilityZone)s\[\](?=\.)/;
  return new Set([...keys].map((key) => key.replace(item, "$1")));
}

const beyond = (keys: Set<string>, others: Set<string>, allowed: Record<string, string>): string[] =>
  [...keys].filter((key) => !others.has(key) && !Object.keys(allowed).some((begin) => key.startsWith(begin)));

test.each(LIFE)("%s is answered with the keys of moto's answer", (call) => {
  const { theirs, ours } = answers.get(call)!;
  const [expected, found] = [keysOf(theirs), keysOf(ours)];

  expect(beyond(expected, found, ONLY_MOTO)).toEqual([]);
  expect(beyond(found, expected, ONLY_OURS)).toEqual([]);
});

test.each([
  ["StopInstances", "StoppingInstances"],
  ["StartInstances", "StartingInstances"],
  ["TerminateInstances", "TerminatingInstances"],
])("%s names the states that moto names", (call, list) => {
  const { theirs, ours } = answers.get(call)! as Record<
    "theirs" | "ours",
    Record<string, InstanceStateChange[]>
  >;
  const states = (changes: InstanceStateChange[] = []) =>
    changes.map(({ PreviousState, CurrentState }) => [PreviousState, CurrentState]);

  expect(states(ours[list])).toEqual(states(theirs[list]));
});

test.each(REFUSED)("%s is refused with moto's code and status", async (_call, make) => {
  const refusal = await refusalOf(() => make(us));
  const expected = await refusalOf(() => make(them));
  expect([refusal.code, refusal.status]).toEqual([expected.code, expected.status]);
});
