// A daemon that dies and comes back: its instances and its room are what they were.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Change } from "../../lib/instance.ts";
import { Cluster, call, type Gateway, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";

const { account } = PRINCIPAL;

let cluster: Cluster;
let gateway: Gateway;
let kept: string;
let stopped: string;
let ended: string;

const launch = (count: number) => gateway.launch(request(count), PRINCIPAL, call());
const change = (how: Change, id: string) => gateway.instances.change(account, how, [id]);
const describe = () => gateway.instances.describe(account, undefined);

const stateOf = async (id: string) => (await gateway.instances.describe(account, [id]))[0]?.state;
const until = (state: string, id: string) =>
  eventually(`${id} ${state}`, async () => (await stateOf(id)) === state);

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: { a: "6x8" } });
  gateway = cluster.gateway();
  [kept, stopped, ended] = (await launch(3)).map(({ id }) => id) as [string, string, string];
  await change("stop", stopped);
  await change("terminate", ended);
  await Promise.all([until("running", kept), until("stopped", stopped), until("terminated", ended)]);
});

afterAll(() => cluster?.[Symbol.asyncDispose]());

beforeEach(async () => {
  await cluster.daemon("a").kill();
  cluster.daemon("a").start();
  await cluster.untilJoined();
});

test("a restart keeps running, stopped and terminated instances as they were, and starts no guest again", async () => {
  expect(await Promise.all([kept, stopped, ended].map(stateOf))).toEqual([
    "running",
    "stopped",
    "terminated",
  ]);
  expect(await describe()).toHaveLength(3);
  expect(cluster.daemon("a").starts()).toHaveLength(3);
});

test("a restart keeps the ledger: a running instance has its room, a stopped one has none", async () => {
  await launch(2);

  const full = { code: "InsufficientInstanceCapacity" };
  await expect(launch(1)).rejects.toMatchObject(full);
  await expect(change("start", stopped)).rejects.toMatchObject(full);
});
