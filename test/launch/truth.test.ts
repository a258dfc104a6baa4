// A capacity error is answered only when nothing was started, and nobody is left who might have.

import { afterEach, beforeEach, expect, test } from "vitest";
import { ACCOUNT } from "../../infra/local/account.ts";
import { fingerprintOf } from "../../lib/launch/fingerprint.ts";
import { keys } from "../../lib/table.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { NatsProxy } from "../support/nats-proxy.ts";
import { Player } from "../support/player.ts";

let cluster: Cluster;

beforeEach(async () => {
  const windows = { leaseMs: 3000, budgetMs: 2700 };
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8" }, windows });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

const launchAgain = (clientToken: string) =>
  cluster.gateway().launch(request(2, { clientToken }), PRINCIPAL, call());

/** A gateway commits a launch on `a`; then the node dies. */
async function committedThenDied(token: string): Promise<Player> {
  const player = await Player.sitDown(cluster, token, 2);
  await player.claim(fingerprintOf(request(2).input));
  await player.hold("a", 1);
  expect(await player.commit("a", 1)).toMatchObject({ outcome: "started" });
  await cluster.daemon("a").kill();
  await cluster.occupy("b", 2);
  return player;
}

test("with the only node that may have started it dead, a launch is left in flight, and found when the node is back", async () => {
  const player = await committedThenDied("dead");
  await player.records.leave((await player.records.read(player.key))!, ["a"]);
  await expect(launchAgain("dead")).rejects.toMatchObject({ code: "Unavailable", status: 503 });
  cluster.daemon("a").start();
  await cluster.untilJoined();
  const found = await launchAgain("dead");
  expect(found.map(({ node }) => node)).toEqual(["a", "a"]);
  // Killed before it had booted, a guest boots again; no other was started.
  expect(new Set(cluster.daemon("a").starts()).size).toBe(2);
});

test("the same when the owner died too, without a word, on a fleet that nobody has yet seen", async () => {
  await committedThenDied("wordless");
  const refusal = await eventually("its lease is over", async () => {
    const ended = await launchAgain("wordless").catch((error: unknown) => error);
    return (ended as Error).message.includes("did not say") && ended;
  });
  expect(refusal).toMatchObject({ code: "Unavailable" });
});

test("an owner that gives up in order does not speak for the one that dies after it", async () => {
  const player = await Player.sitDown(cluster, "two-owners", 2);
  const first = await player.claim(fingerprintOf(request(2).input));
  await player.records.leave(first, []);
  const second = await player.records.takeOver((await player.records.read(player.key))!);
  expect(second).toMatchObject({ outcome: "led", record: { suspects: [] } });
  expect((await player.records.read(player.key))?.suspects).toBeUndefined();
});

test("a repeated launch whose answer was lost starts no id on a second node", async () => {
  const player = await Player.sitDown(cluster, "repeat", 2);
  const first = await player.publishTo("a", 1);
  expect(first).toMatchObject({ answer: { outcome: "started", node: "a" } });
  // `a` is full now, by this very launch.
  expect(await player.publishTo("a", 1)).toMatchObject({ answer: { outcome: "started", node: "a" } });
  expect(await audit(cluster)).toHaveLength(2);
});

test("room that another launch holds for now is waited for, also beside a part that is free", async () => {
  await cluster.occupy("b", 2);
  const holder = await Player.sitDown(cluster, "holder", 1);
  await holder.hold("a", 1, 1);
  const launching = launchAgain("waits");
  await eventually("it goes round", async () => (await cluster.status("a"))?.held !== 1);
  await holder.release("a", 1);
  expect(await launching).toHaveLength(2);
});

test("after a silence the next attempt goes to a node that answers, and names the silent one as tried", async () => {
  // Only `a` has room, so the typed subject hands the launch to it, frozen as it is.
  await cluster.occupy("b", 2);
  cluster.daemon("a").freeze();
  const seen = await cluster.observe();
  await expect(launchAgain("silence")).rejects.toMatchObject({ code: "InsufficientInstanceCapacity" });
  await cluster.observed();
  const later = seen.filter(({ subject }) => subject === "hive.node.b.launch.gateway");
  expect(later.map(({ headers }) => headers?.get("Hive-Tried-Nodes"))).toEqual(["a"]);
  cluster.daemon("a").thaw();
  await audit(cluster);
  expect(cluster.daemon("a").starts()).toEqual([]);
});

test("no deadline lies beyond the lease of its owner, less the skew of two clocks", async () => {
  await using brief = await Cluster.start({
    nodes: { a: "4x8" },
    windows: { launchMs: 60_000, leaseMs: 5000 },
  });
  const seen = await brief.observe();
  const { launch, table } = brief.gateway();
  await launch(request(1, { clientToken: "bounded" }), PRINCIPAL, call());
  await brief.observed();
  const published = seen.find(({ subject }) => subject.startsWith("ec2.RunInstances"));
  const leaseUntil = Number((await table.get(keys.launch(ACCOUNT, "bounded")))?.leaseUntil);
  expect(Number(published?.headers?.get("Hive-Deadline"))).toBe(leaseUntil - brief.windows.skewMs);
});

test("an owner that is superseded stops and joins what its successor decided", async () => {
  const proxy = await NatsProxy.start(cluster.natsUrl);
  try {
    // This gateway's first launch is late by more than its lease: its successor is done by then.
    let held = false;
    proxy.rule = (way, text) => {
      if (held || way !== "toServer" || !/PUB ec2\.RunInstances/.test(text)) return "pass";
      held = true;
      return { delayMs: 250 };
    };
    const slow = cluster.gateway({ natsUrl: proxy.url });
    const wanted = request(2, { clientToken: "superseded" });
    const slowly = slow.launch(wanted, PRINCIPAL, call());
    const player = await Player.sitDown(cluster, "superseded", 2);
    const mine = (await eventually("it is claimed", () => player.records.read(player.key)))!;
    player.reservation = mine.reservation;
    player.fence = mine.fence + 1;
    for (const name of cluster.daemons.keys()) await player.gather(name, 1);
    // It joins, and finds nobody who decides: its own attempts are over at the first word of a newer one.
    await expect(slowly).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("still under way"),
    });
    expect(await audit(cluster)).toEqual([]);
  } finally {
    await proxy[Symbol.asyncDispose]();
  }
});

test("what a node cannot make sense of takes no room and writes no file", async () => {
  const player = await Player.sitDown(cluster, "senseless", 2);
  const { exchange } = player;
  const launch = player.ref(1);
  const deadline = Date.now() + 2000;
  const holdOf = (count: number) => ({
    launch,
    hold: "h",
    type: "t3.micro",
    imageId: "ami-0000000000000000a",
    count,
    deadline,
  });
  expect(await exchange.ask("a", "hold", holdOf(-5), 300)).toEqual({ outcome: "silent" });
  expect(await exchange.ask("a", "hold", holdOf(2), 1000)).toMatchObject({ answer: { outcome: "held" } });
  const commitOf = (ids: string[]) => ({
    launch,
    hold: "h",
    seats: ids.map((id, index) => ({ id, index })),
    input: player.input,
    deadline,
  });
  const twice = ["i-0123456789abcdef0", "i-0123456789abcdef0"];
  for (const ids of [["../../../escaped"], twice]) {
    expect(await exchange.ask("a", "commit", commitOf(ids), 300)).toEqual({ outcome: "silent" });
  }
  await player.gather("a", 2);
  expect(await cluster.status("a")).toMatchObject({ held: 0, instances: 0, free: { vcpu: 4 } });
  expect(await exchange.ask("a", "instances", { account: ACCOUNT }, 1000)).toMatchObject({
    answer: { instances: [] },
  });
});
