// Whatever a client sends, it gets EC2's own error document with the right code, never a 5xx that its SDK retries.

import { afterEach, expect, test } from "vitest";
import { gatewayOver, record } from "./gateway.ts";
import { send, signedCall } from "./signed-call.ts";

const { handler, launches } = gatewayOver([record()]);
afterEach(() => {
  launches.length = 0;
});

const LAUNCH = {
  Action: "RunInstances",
  Version: "2016-11-15",
  ImageId: "ami-0000000000000000a",
  InstanceType: "t3.micro",
  MinCount: "1",
  MaxCount: "1",
};

/** A launch with some parameters changed, added, or (undefined) left out. */
const launch = (changes: Record<string, string | undefined>): string => {
  const given = Object.entries({ ...LAUNCH, ...changes }).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]).toString();
};

const tag = (key: string, value = "v"): Record<string, string> => ({
  "TagSpecification.1.ResourceType": "instance",
  "TagSpecification.1.Tag.1.Key": key,
  "TagSpecification.1.Tag.1.Value": value,
});

const MIB = 1024 * 1024;

test.each<[what: string, body: string, code: string, status: number, words?: string]>([
  ["no Action", "Version=2016-11-15", "MissingAction", 400],
  ["nothing at all", "", "MissingAction", 400],
  ["JSON", '{"Action":"DescribeRegions"}', "MissingAction", 400],
  [
    "an unknown Action",
    "Action=Fly",
    "InvalidAction",
    400,
    "The action Fly is not valid for this web service.",
  ],
  ["an Action named like a prototype's member", "Action=constructor", "InvalidAction", 400],
  ["a malformed Version", launch({ Version: "latest" }), "InvalidParameterValue", 400],
  [
    "a wrong-case parameter",
    launch({ dryRun: "true" }),
    "UnknownParameter",
    400,
    "The parameter dryRun is not recognized",
  ],
  ["a parameter named __proto__", launch({ __proto_: "1", "__proto__.x": "1" }), "UnknownParameter", 400],
  [
    "a member that a list item has not",
    launch({ "TagSpecification.1.Tag.1.key": "a" }),
    "UnknownParameter",
    400,
  ],
  ["a list's own member name", "Action=CreateTags", "InvalidAction", 400],
  ["a name in place of an index", launch({ "TagSpecification.1.Tag.Item.1": "a" }), "UnknownParameter", 400],
  ["a scalar with members", launch({ "ImageId.1": "a" }), "UnknownParameter", 400],
  ["a structure with a value", launch({ Placement: "a" }), "UnknownParameter", 400],
  [
    "an unknown parameter after a malformed one",
    launch({ MinCount: "x", Zebra: "1" }),
    "UnknownParameter",
    400,
  ],
  [
    "a parameter twice",
    `${launch({ KeyName: "k" })}&KeyName=k`,
    "InvalidParameterValue",
    400,
    "The parameter KeyName is specified more than once",
  ],
  ["bad percent encoding", `${launch({})}&KeyName=%E9`, "MalformedQueryString", 400],
  [
    "no MinCount",
    launch({ MinCount: undefined }),
    "MissingParameter",
    400,
    "The request must contain the parameter MinCount",
  ],
  ["no MaxCount", launch({ MaxCount: undefined }), "MissingParameter", 400],
  ["no ImageId", launch({ ImageId: undefined }), "MissingParameter", 400],
  ["no InstanceType", launch({ InstanceType: undefined }), "MissingParameter", 400],
  ["MinCount 0", launch({ MinCount: "0" }), "InvalidParameterValue", 400],
  ["a negative MinCount", launch({ MinCount: "-1" }), "InvalidParameterValue", 400],
  ["both counts negative", launch({ MinCount: "-1", MaxCount: "-1" }), "InvalidParameterValue", 400],
  ["MinCount that is no number", launch({ MinCount: "one" }), "InvalidParameterValue", 400],
  ["an empty MinCount", launch({ MinCount: "" }), "InvalidParameterValue", 400],
  ["a fraction", launch({ MinCount: "1.5" }), "InvalidParameterValue", 400],
  ["a number too large for one", launch({ MaxCount: "99999999999999999999" }), "InvalidParameterValue", 400],
  ["MinCount above MaxCount", launch({ MinCount: "3", MaxCount: "2" }), "InvalidParameterValue", 400],
  ["MaxCount above 1000", launch({ MaxCount: "1001" }), "InvalidParameterValue", 400],
  ["a boolean that is none", launch({ DryRun: "yes" }), "InvalidParameterValue", 400],
  [
    "a malformed image",
    launch({ ImageId: "ami-xyz" }),
    "InvalidAMIID.Malformed",
    400,
    'Invalid id: "ami-xyz" (expecting "ami-...")',
  ],
  [
    "an unknown type",
    launch({ InstanceType: "z9.huge" }),
    "InvalidParameterValue",
    400,
    "Invalid value 'z9.huge' for InstanceType.",
  ],
  ["a type with a star", launch({ InstanceType: "t3.*" }), "InvalidParameterValue", 400],
  ["a type that is a tail wildcard", launch({ InstanceType: ">" }), "InvalidParameterValue", 400],
  ["a type with a space", launch({ InstanceType: "t3.micro x" }), "InvalidParameterValue", 400],
  ["a type with a line break", launch({ InstanceType: "t3.micro\r\nPUB x" }), "InvalidParameterValue", 400],
  [
    "a type named like a prototype's member",
    launch({ InstanceType: "constructor" }),
    "InvalidParameterValue",
    400,
  ],
  [
    "a list with a gap",
    "Action=TerminateInstances&InstanceId.1=i-0000000a&InstanceId.3=i-0000000b",
    "InvalidParameterValue",
    400,
  ],
  ["a list from 2", "Action=TerminateInstances&InstanceId.2=i-0000000a", "InvalidParameterValue", 400],
  ["a list from 0", "Action=TerminateInstances&InstanceId.0=i-0000000a", "InvalidParameterValue", 400],
  [
    "an index with a leading zero",
    "Action=TerminateInstances&InstanceId.01=i-0000000a",
    "InvalidParameterValue",
    400,
  ],
  [
    "an index that is no number",
    "Action=TerminateInstances&InstanceId.x=i-0000000a",
    "InvalidParameterValue",
    400,
  ],
  [
    "an index above 1000",
    "Action=TerminateInstances&InstanceId.1001=i-0000000a",
    "InvalidParameterValue",
    400,
  ],
  [
    "an enormous index",
    `Action=TerminateInstances&InstanceId.${"9".repeat(30)}=i-0000000a`,
    "InvalidParameterValue",
    400,
  ],
  [
    "a gap in a list of structures",
    launch({ "TagSpecification.2.ResourceType": "instance" }),
    "InvalidParameterValue",
    400,
  ],
  [
    "no instance",
    "Action=TerminateInstances",
    "MissingParameter",
    400,
    "The request must contain the parameter InstanceId",
  ],
  [
    "a malformed instance",
    "Action=StopInstances&InstanceId.1=foo",
    "InvalidInstanceID.Malformed",
    400,
    'Invalid id: "foo"',
  ],
  [
    "an instance with a trailing space",
    "Action=StopInstances&InstanceId.1=i-0000000a+",
    "InvalidInstanceID.Malformed",
    400,
  ],
  ["hibernation", "Action=StopInstances&InstanceId.1=i-0000000a&Hibernate=true", "Unsupported", 400],
  ["user data that is no base64", launch({ UserData: "#!/bin/sh" }), "InvalidUserData.Malformed", 400],
  [
    "user data over 16 KiB",
    launch({ UserData: Buffer.alloc(16385).toString("base64") }),
    "InvalidUserData.Malformed",
    400,
  ],
  ["a client token of 65 characters", launch({ ClientToken: "x".repeat(65) }), "InvalidParameterValue", 400],
  ["a client token that is not ASCII", launch({ ClientToken: "é" }), "InvalidParameterValue", 400],
  ["a tag key that AWS keeps", launch(tag("aws:name")), "InvalidParameterValue", 400],
  ["an empty tag key", launch(tag("")), "InvalidParameterValue", 400],
  ["a long tag key", launch(tag("k".repeat(129))), "InvalidParameterValue", 400],
  ["a long tag value", launch(tag("k", "v".repeat(257))), "InvalidParameterValue", 400],
  [
    "a tag key twice",
    launch({ ...tag("k"), "TagSpecification.1.Tag.2.Key": "k" }),
    "InvalidParameterValue",
    400,
  ],
  ["51 tags", launch(manyTags(51)), "TagLimitExceeded", 400],
  [
    "tags for an unknown resource",
    launch({ ...tag("k"), "TagSpecification.1.ResourceType": "vpc" }),
    "InvalidParameterValue",
    400,
  ],
  [
    "tags for nothing",
    launch({ ...tag("k"), "TagSpecification.1.ResourceType": undefined }),
    "InvalidParameterValue",
    400,
  ],
  ["a launch template", launch({ "LaunchTemplate.LaunchTemplateId": "lt-1" }), "Unsupported", 400],
  ["the spot market", launch({ "InstanceMarketOptions.MarketType": "spot" }), "Unsupported", 400],
  ["a dedicated host", launch({ "Placement.Tenancy": "host" }), "Unsupported", 400],
  ["a placement group", launch({ "Placement.GroupName": "pg" }), "Unsupported", 400],
  [
    "another zone",
    launch({ "Placement.AvailabilityZone": "us-east-1b" }),
    "InvalidParameterValue",
    400,
    "Invalid availability zone: [us-east-1b]",
  ],
  ["an instance profile", launch({ "IamInstanceProfile.Name": "p" }), "Unsupported", 400],
  ["termination protection", launch({ DisableApiTermination: "true" }), "Unsupported", 400],
  [
    "a capacity reservation",
    launch({ "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId": "cr-1" }),
    "Unsupported",
    400,
  ],
  [
    "interfaces and a subnet",
    launch({ "NetworkInterface.1.DeviceIndex": "0", SubnetId: "subnet-1" }),
    "InvalidParameterCombination",
    400,
  ],
  [
    "groups by name and a subnet",
    launch({ "SecurityGroup.1": "default", SubnetId: "subnet-1" }),
    "InvalidParameterCombination",
    400,
  ],
  [
    "an unknown filter",
    "Action=DescribeInstances&Filter.1.Name=colour&Filter.1.Value.1=red",
    "InvalidParameterValue",
    400,
    "The filter 'colour' is invalid",
  ],
  [
    "a filter named like a prototype's member",
    "Action=DescribeInstances&Filter.1.Name=constructor&Filter.1.Value.1=x",
    "InvalidParameterValue",
    400,
  ],
  [
    "a filter without a value",
    "Action=DescribeInstances&Filter.1.Name=instance-id",
    "InvalidParameterValue",
    400,
  ],
  ["a filter without a name", "Action=DescribeInstances&Filter.1.Value.1=x", "InvalidParameterValue", 400],
  [
    "201 values of a filter",
    `Action=DescribeInstances&Filter.1.Name=instance-id&${manyValues(201)}`,
    "FilterLimitExceeded",
    400,
  ],
  ["MaxResults 4", "Action=DescribeInstances&MaxResults=4", "InvalidParameterValue", 400],
  ["MaxResults 1001", "Action=DescribeInstances&MaxResults=1001", "InvalidParameterValue", 400],
  [
    "ids and MaxResults",
    "Action=DescribeInstances&MaxResults=5&InstanceId.1=i-0000000a",
    "InvalidParameterCombination",
    400,
    "The parameter instancesSet cannot be used with the parameter maxResults",
  ],
  [
    "a token of another listing",
    "Action=DescribeInstances&MaxResults=5&NextToken=abc",
    "InvalidParameterValue",
    400,
  ],
  [
    "an instance type that there is not",
    "Action=DescribeInstanceTypes&InstanceType.1=z9.huge",
    "InvalidInstanceType",
    400,
    "The following supplied instance types do not exist: [z9.huge]",
  ],
  [
    "MaxResults 101 of instance types",
    "Action=DescribeInstanceTypes&MaxResults=101",
    "InvalidParameterValue",
    400,
  ],
  ["another region", "Action=DescribeRegions&RegionName.1=mars-1", "InvalidParameterValue", 400],
  [
    "a zone that there is not",
    "Action=DescribeAvailabilityZones&ZoneName.1=us-east-1z",
    "InvalidParameterValue",
    400,
  ],
  [
    "a dry run that would launch",
    launch({ DryRun: "true" }),
    "DryRunOperation",
    412,
    "Request would have succeeded, but DryRun flag is set.",
  ],
  [
    "a dry run that would stop",
    "Action=StopInstances&InstanceId.1=i-0000000a&DryRun=true",
    "DryRunOperation",
    412,
  ],
  ["a dry run of a listing", "Action=DescribeInstances&DryRun=true", "DryRunOperation", 412],
  [
    "a dry run of what would be refused",
    launch({ DryRun: "true", InstanceType: "z9.huge" }),
    "InvalidParameterValue",
    400,
  ],
  ["10,001 parameters", manyParameters(10_001), "InvalidParameterValue", 400],
  ["a body over 1 MiB", `Action=RunInstances&UserData=${"A".repeat(MIB)}`, "RequestEntityTooLarge", 413],
])("%s is refused", async (_, body, code, status, words) => {
  const answer = await send(handler, await signedCall(body));

  expect(answer).toMatchObject({ code, status });
  if (words) expect(answer.message).toBe(words.replaceAll(">", "&gt;"));
  expect(answer.headers["content-type"]).toBe("text/xml;charset=UTF-8");
  expect(answer.body).toMatch(/<RequestID>[0-9a-f-]{36}<\/RequestID><\/Response>$/);
  expect(launches).toEqual([]);
});

test("a body over 1 MiB is refused before its signature is looked at", async () => {
  const answer = await send(handler, { method: "POST", path: "/", headers: {}, body: "A".repeat(MIB + 1) });
  expect(answer).toMatchObject({ code: "RequestEntityTooLarge", status: 413 });
});

test("a body that is no UTF-8 is refused", async () => {
  const bytes = Buffer.from("Action=DescribeRegions&x=\xff", "latin1");
  const call = await signedCall(bytes as unknown as string);
  expect(await send(handler, call)).toMatchObject({ code: "MalformedQueryString", status: 400 });
});

test("a path that there is not is refused", async () => {
  const answer = await send(handler, { ...(await signedCall("Action=DescribeRegions")), path: "/x" });
  expect(answer).toMatchObject({ code: "InvalidAction", status: 404 });
});

test.each<[string, Record<string, string>]>([
  ["security groups and a subnet", { "SecurityGroupId.1": "sg-1", SubnetId: "subnet-1" }],
  [
    "interfaces",
    { "NetworkInterface.1.DeviceIndex": "0", "NetworkInterface.1.AssociatePublicIpAddress": "true" },
  ],
  ["block devices", { "BlockDeviceMapping.1.DeviceName": "/dev/sdb", "BlockDeviceMapping.1.NoDevice": "" }],
  ["the zone that there is", { "Placement.AvailabilityZone": "us-east-1a", "Placement.Tenancy": "default" }],
  ["what Terraform leaves empty", { "Placement.GroupName": "" }],
  ["tags of volumes", { ...tag("k"), "TagSpecification.1.ResourceType": "volume" }],
  ["protection that is off", { DisableApiTermination: "false", "HibernationOptions.Configured": "false" }],
  ["an older version", { Version: "2014-02-01" }],
  ["user data with line breaks", { UserData: "aGVs\nbG8=\n" }],
])("a launch with %s is taken", async (_, changes) => {
  expect(await send(handler, await signedCall(launch(changes)))).toMatchObject({ status: 200 });
  expect(launches).toHaveLength(1);
});

function manyTags(count: number): Record<string, string> {
  const tags = Array.from({ length: count }, (_, n) => [`TagSpecification.1.Tag.${n + 1}.Key`, `k${n}`]);
  return { "TagSpecification.1.ResourceType": "instance", ...Object.fromEntries(tags) };
}

function manyValues(count: number): string {
  return Array.from({ length: count }, (_, n) => `Filter.1.Value.${n + 1}=x`).join("&");
}

function manyParameters(count: number): string {
  return Array.from({ length: count }, (_, n) => `p${n}=`).join("&");
}
