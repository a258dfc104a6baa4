import { expect, test } from "vitest";
import type { Instance } from "../../lib/instance.ts";
import { gatewayOver, KEY, record } from "./gateway.ts";
import { send, signedCall } from "./signed-call.ts";

const id = (n: number): string => `i-${String(n).padStart(17, "0")}`;

/** Two of one launch and one of an earlier one. */
const RECORDS: Instance[] = [
  record({
    id: id(2),
    index: 1,
    launchedAt: Date.UTC(2026, 0, 1),
    tags: [{ key: "Owner", value: "alice" }],
    state: "stopped",
  }),
  record({
    id: id(1),
    index: 0,
    tags: [{ key: "Name", value: "web alice" }],
    keyName: "k",
    clientToken: "t",
  }),
  record({
    id: id(3),
    reservation: "r-0000000000000000b",
    launchedAt: Date.UTC(2025, 0, 1),
    type: "m5.large",
    imageId: "ami-0000000b",
    privateIp: "10.0.0.3",
    tags: [
      { key: "Name", value: "a*b" },
      { key: "Empty", value: "" },
    ],
  }),
];

const { handler } = gatewayOver(RECORDS);

type FilterGiven = [name: string, ...values: string[]];

const query = (filters: FilterGiven[], more: Record<string, string> = {}): string => {
  const parameters = new URLSearchParams({ Action: "DescribeInstances", ...more });
  for (const [at, [name, ...values]] of filters.entries()) {
    parameters.set(`Filter.${at + 1}.Name`, name);
    for (const [n, value] of values.entries()) parameters.set(`Filter.${at + 1}.Value.${n + 1}`, value);
  }
  return parameters.toString();
};

const describe = async (body: string) => (await send(handler, await signedCall(body))).body;
const idsIn = (body: string) =>
  [...body.matchAll(/<instanceId>i-0*(\d)<\/instanceId>/g)].map(([, n]) => Number(n));

test.each<[FilterGiven[], number[]]>([
  [[], [3, 1, 2]],
  [[["instance-state-name", "running"]], [3, 1]],
  [[["instance-state-name", "running", "stopped"]], [3, 1, 2]],
  [[["instance-state-code", "80"]], [2]],
  [[["instance-id", id(1), id(3)]], [3, 1]],
  [[["instance-type", "m5.*"]], [3]],
  [[["image-id", "ami-0000000b"]], [3]],
  [[["reservation-id", "r-0000000000000000a"]], [1, 2]],
  [[["owner-id", KEY.account]], [3, 1, 2]],
  [[["key-name", "k"]], [1]],
  [[["client-token", "t"]], [1]],
  [[["private-ip-address", "10.0.0.?"]], [3]],
  [[["private-dns-name", "ip-10-0-0-3.ec2.internal"]], [3]],
  [[["availability-zone", "us-east-1a"]], [3, 1, 2]],
  [[["launch-time", "2025-01-01*"]], [3]],
  [[["tag-key", "Owner"]], [2]],
  [[["tag-value", "*alice*"]], [1, 2]],
  [[["tag:Name", "*alice"]], [1]],
  [[["tag:Name", "a\\*b"]], [3]],
  [[["tag:Name", "A*"]], []],
  [[["tag:Empty", ""]], [3]],
  [[["tag:Nobody", "*"]], []],
  [[["vpc-id", "*"]], []],
  [
    [
      ["instance-type", "t3.micro"],
      ["instance-state-name", "running"],
    ],
    [1],
  ],
])("the filters %j leave %j", async (filters, expected) => {
  expect(idsIn(await describe(query(filters)))).toEqual(expected);
});

test("instances of one launch stand in one reservation, in their order", async () => {
  const body = await describe(query([]));
  expect(body.match(/<reservationId>/g)).toHaveLength(2);
});

test("an account without instances gets an empty set", async () => {
  const { handler } = gatewayOver([]);
  const { body } = await send(handler, await signedCall("Action=DescribeInstances"));
  expect(body).toContain("<reservationSet/>");
});

test("pages hold each instance once, in order, and the last has no token", async () => {
  const records = Array.from({ length: 12 }, (_, n) => record({ id: id(n), index: n }));
  const { handler } = gatewayOver(records);
  const seen: number[] = [];
  let token: string | undefined;
  let pages = 0;
  do {
    const parameters = { MaxResults: "5", ...(token ? { NextToken: token } : {}) };
    const { body } = await send(handler, await signedCall(query([], parameters)));
    seen.push(...[...body.matchAll(/<amiLaunchIndex>(\d+)</g)].map(([, n]) => Number(n)));
    token = /<nextToken>(.+)<\/nextToken>/.exec(body)?.[1];
    pages++;
  } while (token);
  expect(seen).toEqual(records.map(({ index }) => index));
  expect(pages).toBe(3);
});

test("a token does not continue a listing with other filters", async () => {
  const records = Array.from({ length: 6 }, (_, n) => record({ id: id(n), index: n }));
  const { handler } = gatewayOver(records);
  const { body } = await send(handler, await signedCall(query([], { MaxResults: "5" })));
  const token = /<nextToken>(.+)<\/nextToken>/.exec(body)![1]!;
  const filtered = query([["instance-type", "*"]], { MaxResults: "5", NextToken: token });
  expect(await send(handler, await signedCall(filtered))).toMatchObject({
    code: "InvalidParameterValue",
    status: 400,
  });
});

test("characters that XML cannot hold do not spoil the answer", async () => {
  const value = "a\u0000b\u001b\ud800c]]>&<\r\n";
  const { handler } = gatewayOver([record({ tags: [{ key: "Name", value }] })]);
  const { body } = await send(handler, await signedCall("Action=DescribeInstances"));
  expect(body).toContain("<value>a\ufffdb\ufffd\ufffdc]]&gt;&amp;&lt;&#13;\n</value>");
});
