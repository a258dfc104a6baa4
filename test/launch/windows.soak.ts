// Each window that the other tests shorten, once at its real length.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf } from "../../lib/launch/fingerprint.ts";
import { readWindows } from "../../lib/windows.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Player } from "../support/player.ts";

const REAL = readWindows(undefined);
const LONG_MS = 90_000;

/** How far off a timer may be on two busy cores. */
const SLACK_MS = 2500;

const since = (start: number) => performance.now() - start;

describe.concurrent("at real length", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    // A node each, so that one test's freeze is not another's.
    cluster = await Cluster.start({
      nodes: { hold: "4x8", late: "4x8", other: "4x8" },
      windows: REAL,
    });
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test("a hold lapses after 10 s and not before", async () => {
    const player = await Player.sitDown(cluster, "real-hold");
    const start = performance.now();
    await player.hold("hold", 1);
    await eventually("it has lapsed", async () => (await cluster.status("hold"))?.held === 0, LONG_MS);
    expect(since(start)).toBeGreaterThan(REAL.holdMs - 100);
    expect(since(start)).toBeLessThan(REAL.holdMs + SLACK_MS);
    expect(await player.commit("hold", 1)).toEqual({ outcome: "lapsed" });
  });

  test("a hold that was asked for before a freeze of 8 s and more is late after it", async () => {
    const player = await Player.sitDown(cluster, "real-late");
    cluster.daemon("late").freeze();
    const start = performance.now();
    const held = player.holdWithin("late", 1, REAL.launchMs + SLACK_MS);
    await eventually("its deadline has passed", () => since(start) > REAL.launchMs, LONG_MS);
    cluster.daemon("late").thaw();
    expect(await held).toEqual({ outcome: "late" });
  });

  test("a launch whose owner died is taken over when its lease of 25 s is over", async () => {
    const player = await Player.sitDown(cluster, "real-lease");
    const record = await player.claim(fingerprintOf(request(1).input));
    const start = performance.now();
    const { launch } = cluster.gateway();
    const started = await eventually(
      "the launch is taken over",
      () => launch(request(1, { clientToken: "real-lease" }), PRINCIPAL, call()),
      LONG_MS,
    );
    expect(since(start)).toBeGreaterThan(REAL.leaseMs - 100);
    expect(started.map(({ reservation }) => reservation)).toEqual([record.reservation]);
  });
});

test("a node that is silent for three beats is asked no more", { timeout: LONG_MS }, async () => {
  await using cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8" }, windows: REAL });
  await cluster.occupy("a", 2);
  cluster.daemon("b").freeze();
  const seen = await cluster.observe();
  const asksOfB = () => seen.filter(({ subject }) => subject.startsWith("hive.node.b.hold")).length;
  const ask = async () => {
    const before = asksOfB();
    const player = await Player.sitDown(cluster, `beats-${before}-${performance.now()}`);
    await player.publishTo("a", 1);
    await cluster.observed();
    return asksOfB() - before;
  };
  expect(await ask()).toBe(1);
  await eventually("it is asked no more", async () => (await ask()) === 0, LONG_MS);
  cluster.daemon("b").thaw();
  await audit(cluster);
});

test("a node that freezes after its acknowledgement is waited for 3 s", { timeout: LONG_MS }, async () => {
  await using cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8" }, windows: REAL });
  const holder = await Player.sitDown(cluster, "real-quiet-holder", 2);
  for (const name of cluster.daemons.keys()) await holder.hold(name, 1);
  const seen = await cluster.observe();
  // All room is held by another launch, so whoever coordinates goes round and round.
  const player = await Player.sitDown(cluster, "real-quiet");
  const published = player.publish(1);
  const coordinator = await eventually("somebody acknowledges", () =>
    seen.map((message) => message.headers?.get("Hive-Ack")).find(Boolean),
  );
  cluster.daemon(coordinator!).freeze();
  const frozen = performance.now();
  expect(await published).toEqual({ outcome: "silent", by: coordinator });
  expect(since(frozen)).toBeGreaterThan(REAL.quietMs - REAL.ackAgainMs - 100);
  expect(since(frozen)).toBeLessThan(REAL.quietMs + SLACK_MS);
  cluster.daemon(coordinator!).thaw();
});
