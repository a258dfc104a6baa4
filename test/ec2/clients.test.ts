// Real clients over real HTTP: botocore and the JavaScript SDK sign, send and read every action of the table.

import * as sdk from "@aws-sdk/client-ec2";
import { afterAll, expect, test } from "vitest";
import { ACTIONS, type ActionName } from "../../lib/ec2/actions.ts";
import { openAwsModel } from "./aws-model.ts";
import { openFrontDoor } from "./front-door.ts";
import { gatewayOver, KEY, REGION, record } from "./gateway.ts";

const TAGGED = record({ keyName: "k", privateIp: "10.0.0.1", tags: [{ key: "Name", value: "ä <b> & ‘c’" }] });
const { handler } = gatewayOver([TAGGED]);
const door = await openFrontDoor(handler);
const model = openAwsModel();
const client = new sdk.EC2Client({
  endpoint: door.url,
  region: REGION,
  credentials: KEY,
  maxAttempts: 1,
});

afterAll(async () => {
  client.destroy();
  model[Symbol.dispose]();
  await door[Symbol.asyncDispose]();
});

const ids = { InstanceIds: [TAGGED.id] };
const changed = {
  InstanceId: TAGGED.id,
  PreviousState: { Code: 16, Name: "running" },
  CurrentState: { Code: 64, Name: "stopping" },
};
const shown = {
  InstanceId: TAGGED.id,
  State: { Code: 16, Name: "running" },
  Tags: [{ Key: "Name", Value: "ä <b> & ‘c’" }],
  PrivateDnsName: "ip-10-0-0-1.ec2.internal",
  KeyName: "k",
  AmiLaunchIndex: 0,
  Placement: { AvailabilityZone: "us-east-1a", GroupName: "", Tenancy: "default" },
  SecurityGroups: [],
  BlockDeviceMappings: [],
  NetworkInterfaces: [],
  ProductCodes: [],
};

/** A call of each action, and what both clients must make of the answer. */
const CALLS: Record<ActionName, [input: Record<string, unknown>, answer: Record<string, unknown>]> = {
  RunInstances: [
    {
      ImageId: TAGGED.imageId,
      InstanceType: "t3.micro",
      MinCount: 1,
      MaxCount: 1,
      TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "a b", Value: "~*+'" }] }],
    },
    {
      ReservationId: TAGGED.reservation,
      OwnerId: KEY.account,
      Groups: [],
      Instances: [expect.objectContaining(shown)],
    },
  ],
  DescribeInstances: [
    { Filters: [{ Name: "tag:Name", Values: ["ä*", "b c"] }] },
    { Reservations: [expect.objectContaining({ Instances: [expect.objectContaining(shown)] })] },
  ],
  StartInstances: [ids, { StartingInstances: [changed] }],
  StopInstances: [ids, { StoppingInstances: [changed] }],
  RebootInstances: [ids, {}],
  TerminateInstances: [ids, { TerminatingInstances: [changed] }],
  DescribeInstanceTypes: [
    { InstanceTypes: ["g5.xlarge"] },
    {
      InstanceTypes: [
        expect.objectContaining({
          InstanceType: "g5.xlarge",
          VCpuInfo: expect.objectContaining({ DefaultVCpus: 4 }),
          MemoryInfo: { SizeInMiB: 16384 },
          BurstablePerformanceSupported: false,
        }),
      ],
    },
  ],
  DescribeRegions: [
    {},
    {
      Regions: [expect.objectContaining({ RegionName: REGION, Endpoint: door.url.slice("http://".length) })],
    },
  ],
  DescribeAvailabilityZones: [
    {},
    {
      AvailabilityZones: [
        expect.objectContaining({
          ZoneName: "us-east-1a",
          ZoneId: "use1-az1",
          State: "available",
          Messages: [],
        }),
      ],
    },
  ],
};

const connection = { endpoint: door.url, region: REGION, key: KEY.accessKeyId, secret: KEY.secretAccessKey };
const actions = Object.keys(ACTIONS) as ActionName[];
const COMMANDS = new Map<string, unknown>(Object.entries(sdk));

test.each(actions)("botocore calls %s and reads the answer", async (action) => {
  const [params, expected] = CALLS[action];
  const { answer } = await model.ask({ do: "call", action, params, ...connection });
  expect(answer).toMatchObject(expected);
  expect(answer.ResponseMetadata.RequestId).toMatch(/^[0-9a-f-]{36}$/);
});

test.each(actions)("the JavaScript SDK calls %s and reads the answer", async (action) => {
  const [input, expected] = CALLS[action];
  const Command = COMMANDS.get(`${action}Command`) as new (input: object) => sdk.DescribeInstancesCommand;
  const { $metadata, ...answer } = await client.send(new Command(input));
  expect(answer).toMatchObject(expected);
  expect($metadata.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test("a URL presigned by botocore for GET is answered", async () => {
  const { url } = await model.ask({
    do: "presign",
    action: "DescribeInstances",
    params: { Filters: [{ Name: "tag:a b", Values: ["*~ä"] }] },
    expires: 60,
    ...connection,
  });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("<DescribeInstancesResponse");
});

test("botocore reads a fault's code, message and request id", async () => {
  const params = { InstanceIds: ["<foo>"] };
  const { error } = await model.ask({ do: "call", action: "StopInstances", params, ...connection });
  expect(error).toMatchObject({
    Error: { Code: "InvalidInstanceID.Malformed", Message: 'Invalid id: "<foo>"' },
    ResponseMetadata: { HTTPStatusCode: 400, RequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
});

test("the JavaScript SDK reads a fault's code, message and status", async () => {
  const call = client.send(new sdk.StopInstancesCommand({ InstanceIds: ["foo"] }));
  await expect(call).rejects.toMatchObject({
    name: "InvalidInstanceID.Malformed",
    message: 'Invalid id: "foo"',
    $metadata: { httpStatusCode: 400 },
  });
});
