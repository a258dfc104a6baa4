// Eight ways in which a launch can be interrupted, each played over the real wire. After each: nothing is doubled,
// nothing oversold, no hold left, and the answer is true.

import { afterEach, beforeEach, expect, test } from "vitest";
import { ACCOUNT } from "../../infra/local/account.ts";
import { fingerprintOf } from "../../lib/launch/fingerprint.ts";
import { keys } from "../../lib/table.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Player } from "../support/player.ts";

let cluster: Cluster;

beforeEach(async () => {
  // A t3.micro is 2 vCPUs: room for two on each.
  const windows = { leaseMs: 3000, budgetMs: 2700 };
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8", c: "4x8" }, windows });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

const ids = (instances: readonly { id: string }[]) => instances.map(({ id }) => id).sort();

test("trace 1: held on A, silence, held on B, both commit: only B starts", async () => {
  const player = await Player.sitDown(cluster, "trace-1");
  expect(await player.hold("a", 1)).toEqual({ outcome: "held", count: 1 });
  await player.gather("a", 2);
  await player.gather("b", 2);
  expect(await player.hold("b", 3)).toEqual({ outcome: "held", count: 1 });
  const [late, good] = await Promise.all([player.commit("a", 1), player.commit("b", 3)]);
  expect(late).toMatchObject({ outcome: "superseded", by: { n: 2 } });
  expect(good).toMatchObject({ outcome: "started" });
  const live = await audit(cluster);
  expect(live.map(({ node }) => node)).toEqual(["b"]);
  expect(cluster.daemon("a").starts()).toEqual([]);
});

test("trace 1 with A frozen: what was sent before its freeze is closed by what was sent after", async () => {
  const player = await Player.sitDown(cluster, "trace-1-frozen");
  await player.hold("a", 1);
  cluster.daemon("a").freeze();
  const pending = player.commit("a", 1);
  const gathering = player.gather("a", 2);
  await player.hold("b", 3);
  await player.commit("b", 3);
  // Frozen for longer than any node is kept waiting by its machine.
  await eventually("a has been frozen for a while", frozenFor(400));
  cluster.daemon("a").thaw();
  expect(await pending).toMatchObject({ outcome: "superseded" });
  expect(await gathering).toEqual({ outcome: "found", instances: [] });
  expect((await audit(cluster)).map(({ node }) => node)).toEqual(["b"]);
  expect(cluster.daemon("a").starts()).toEqual([]);
});

test("trace 2: a node that is full only by the launch's own older hold takes its newer attempt", async () => {
  const player = await Player.sitDown(cluster, "trace-2", 2);
  expect(await player.hold("a", 1)).toEqual({ outcome: "held", count: 2 });
  expect(await player.hold("a", 2)).toEqual({ outcome: "held", count: 2 });
  expect(await player.commit("a", 1)).toMatchObject({ outcome: "superseded" });
  expect(await player.commit("a", 2)).toMatchObject({ outcome: "started" });
  expect(await audit(cluster)).toHaveLength(2);
});

test("trace 3: a commit after its hold lapsed and the room was taken is refused", async () => {
  await using brief = await Cluster.start({ nodes: { a: "4x8" }, windows: { holdMs: 500 } });
  const player = await Player.sitDown(brief, "trace-3", 2);
  await player.hold("a", 1);
  await eventually("the hold has lapsed", async () => (await brief.status("a"))?.held === 0);
  const others = await brief.occupy("a", 2);
  expect(await player.commit("a", 1)).toEqual({ outcome: "lapsed" });
  expect(ids(await audit(brief))).toEqual(others.toSorted());
});

test("what comes after its deadline starts nothing and holds nothing", async () => {
  const player = await Player.sitDown(cluster, "late", 1);
  const past = Date.now() - 1;
  expect(await player.publish(1, { deadline: past })).toEqual({
    outcome: "answered",
    answer: { outcome: "late" },
  });
  await player.hold("a", 2);
  expect(await player.commit("a", 2, undefined, past)).toEqual({ outcome: "late" });
  await player.release("a", 2);
  expect(await audit(cluster)).toEqual([]);
  expect([...cluster.daemons.values()].flatMap((daemon) => daemon.starts())).toEqual([]);
});

test("trace 4: a gateway that thaws after its successor took over and publishes with a fresh deadline starts nothing", async () => {
  const { launch, table } = cluster.gateway();
  const { frozen, started } = await takenOver("trace-4", 2);
  const published = await frozen.publish(2);
  expect(published).toMatchObject({ outcome: "answered", answer: { outcome: "superseded" } });
  expect(ids(await audit(cluster))).toEqual(ids(started));
  const again = await launch(request(2, { clientToken: "trace-4" }), PRINCIPAL, call());
  expect(ids(again)).toEqual(ids(started));
  expect(await table.get(keys.launch(ACCOUNT, "trace-4"))).toMatchObject({ phase: "done" });
});

test("trace 5: one slice committed, the other pending, a retry: one reservation of the right size", async () => {
  const token = "trace-5";
  const player = await Player.sitDown(cluster, token, 3);
  await player.claim(fingerprintOf(request(3).input));
  await player.hold("a", 1, 2);
  await player.hold("b", 1, 1);
  const attempt = player.ref(1).attempt;
  await player.commit("a", 1, player.seats(attempt, 0, 2));
  cluster.daemon("b").freeze();
  const pending = player.commit("b", 1, player.seats(attempt, 2, 1));
  await player.records.leave((await player.records.read(player.key))!, ["b"]);

  const started = await cluster.gateway().launch(request(3, { clientToken: token }), PRINCIPAL, call());
  cluster.daemon("b").thaw();
  expect(await pending).toMatchObject({ outcome: "superseded" });
  expect(started).toHaveLength(3);
  expect(new Set(started.map(({ reservation }) => reservation)).size).toBe(1);
  expect(ids(await audit(cluster))).toEqual(ids(started));
  expect(cluster.daemon("b").starts()).toEqual([]);
});

test("trace 6: a daemon that committed, died and comes back after another succeeded: its surplus is known by record and attempt", async () => {
  const token = "trace-6";
  const player = await Player.sitDown(cluster, token);
  const record = await player.claim(fingerprintOf(request(1).input));
  await player.hold("a", 1);
  await player.commit("a", 1);
  await cluster.daemon("a").kill();
  await player.records.leave(record, ["a"]);

  const { launch, table } = cluster.gateway();
  const started = await launch(request(1, { clientToken: token }), PRINCIPAL, call());
  expect(started[0]?.node).not.toBe("a");
  cluster.daemon("a").start();
  await cluster.untilJoined();
  const surplus = (await audit(cluster)).filter(({ node }) => node === "a");
  expect(surplus).toMatchObject([{ launchKey: player.key, attempt: { fence: record.fence, n: 1 } }]);
  const done = await table.get(player.key);
  expect(done).toMatchObject({ phase: "done", ids: started.map(({ id }) => id) });
  expect(done?.fence).toBeGreaterThan(record.fence);
});

test("trace 7: a thawed owner that gathers after its successor's success changes nothing and joins", async () => {
  const { frozen, record, started } = await takenOver("trace-7", 2);
  for (const name of cluster.daemons.keys()) {
    expect(await frozen.gather(name, 5)).toMatchObject({ outcome: "superseded" });
  }
  const decided = await frozen.records.decide(record, [{ id: "i-00000000000000000", node: "a" }]);
  expect(decided).toMatchObject({
    outcome: "joined",
    record: { phase: "done", ids: started.map(({ id }) => id) },
  });
  expect(ids(await audit(cluster))).toEqual(ids(started));
});

test("trace 8: an ask that timed out although the peer held leaves no hold", async () => {
  await cluster.occupy("a", 2);
  await cluster.occupy("c", 1);
  cluster.daemon("b").freeze();
  const launching = cluster.gateway().launch(request(2, { clientToken: "trace-8" }), PRINCIPAL, call());
  await expect(launching).rejects.toMatchObject({ code: "InsufficientInstanceCapacity" });
  cluster.daemon("b").thaw();
  expect(await audit(cluster)).toHaveLength(3);
  expect(cluster.daemon("b").starts()).toEqual([]);
});

test("a release that overtakes its hold leaves a tombstone, and the hold that follows is refused", async () => {
  const player = await Player.sitDown(cluster, "tombstone");
  expect(await player.release("a", 1)).toEqual({ outcome: "released" });
  expect(await player.hold("a", 1)).toEqual({ outcome: "late" });
  await audit(cluster);
});

/** A gateway claims and stops; another takes its launch over and finishes it. */
async function takenOver(token: string, count: number) {
  const frozen = await Player.sitDown(cluster, token, count);
  const record = await frozen.claim(fingerprintOf(request(count).input));
  const { launch } = cluster.gateway();
  // A caller that meets the dead owner's lease is told to come again, as every SDK does.
  const started = await eventually("the launch is taken over", async () =>
    launch(request(count, { clientToken: token }), PRINCIPAL, call()),
  );
  expect(started).toHaveLength(count);
  return { frozen, record, started };
}

function frozenFor(ms: number): () => boolean {
  const since = performance.now();
  return () => performance.now() - since >= ms;
}
