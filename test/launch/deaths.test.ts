// Daemons that die in the middle of a launch, and what they remember when they come back.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { audit } from "../support/audit.ts";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Player } from "../support/player.ts";

let cluster: Cluster;

beforeEach(async () => {
  const windows = { leaseMs: 3000, budgetMs: 2700 };
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8", c: "4x8" }, windows });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

const ids = (instances: readonly { id: string }[]) => instances.map(({ id }) => id).sort();

/** Launches with one token until there is an answer; only "come again" may come before it. */
async function launchUntilAnswered(token: string, count: number) {
  const { launch } = cluster.gateway();
  for (;;) {
    try {
      return await launch(request(count, { clientToken: token }), PRINCIPAL, call());
    } catch (error) {
      expect(error).toMatchObject({ code: "Unavailable" });
    }
  }
}

/** Calls back with the node's name when a message on the bus matches. */
async function onWire(
  look: (subject: string, text: string, ack: string | undefined) => string | undefined,
  act: (node: string) => void,
) {
  const seen = await cluster.observe();
  let met = false;
  const push = seen.push.bind(seen);
  seen.push = (...messages) => {
    for (const message of messages) {
      const node = look(message.subject, message.string(), message.headers?.get("Hive-Ack") || undefined);
      if (!met && node) {
        met = true;
        act(node);
      }
    }
    return push(...messages);
  };
}

test.each([
  ["after acknowledging", 1, (_: string, __: string, ack?: string) => ack],
  ["after acknowledging a launch of parts", 3, (_: string, __: string, ack?: string) => ack],
  ["after holding", 3, (subject: string) => /^hive\.node\.(\w+)\.hold\./.exec(subject)?.[1]],
  ["after committing", 3, (subject: string) => /^hive\.node\.(\w+)\.commit\./.exec(subject)?.[1]],
  [
    "after answering that all was started",
    1,
    (_: string, text: string) => /"outcome":"started","node":"(\w+)"/.exec(text)?.[1],
  ],
] as const)(
  "a daemon killed %s: the launch ends in one reservation, or a 503 that its token resolves",
  async (when, count, look) => {
    let killed = "";
    await onWire(look, (node) => {
      killed = node;
      void cluster.daemon(node).kill();
    });
    const started = await launchUntilAnswered(`killed ${when}`, count);
    expect(started).toHaveLength(count);
    expect(killed).not.toBe("");
    await eventually("the daemon is dead", async () => (await cluster.status(killed)) === undefined);
    cluster.daemon(killed).start();
    await cluster.untilJoined();
    // What the dead node had committed for an attempt that lost is a surplus that its record and attempt name.
    const live = await audit(cluster);
    for (const id of ids(started)) expect(ids(live)).toContain(id);
    for (const surplus of live.filter(({ id }) => !ids(started).includes(id))) {
      expect(surplus).toMatchObject({ node: killed, launchKey: expect.stringMatching(/^launch#/) });
    }
  },
);

test("killed at any moment of a launch, a daemon makes no capacity error that was none and doubles nothing that is listed", async () => {
  for (let round = 0; round < 6; round++) {
    let killed = "";
    await onWire(
      (_subject, _text, ack) => ack,
      (node) => {
        killed = node;
        void sleep(Math.random() * 4).then(() => cluster.daemon(node).kill());
      },
    );
    const started = await launchUntilAnswered(`round ${round}`, 1);
    await eventually("the daemon is dead", async () => (await cluster.status(killed)) === undefined);
    cluster.daemon(killed).start();
    await cluster.untilJoined();
    const live = await audit(cluster);
    expect(ids(live)).toContain(ids(started)[0]);
    await cluster.gateway().instances.change(PRINCIPAL.account, "terminate", ids(live));
  }
});

test("a restart keeps instances, room and the highest attempts seen", async () => {
  const player = await Player.sitDown(cluster, "restart", 1);
  await player.hold("a", 1);
  await player.commit("a", 1);
  await player.gather("a", 7);
  const before = (await cluster.status("a"))!;
  await cluster.daemon("a").kill();
  await eventually("a is gone", async () => (await cluster.status("a")) === undefined);
  cluster.daemon("a").start();
  await cluster.untilJoined();
  expect(await cluster.status("a")).toMatchObject({ free: before.free, instances: 1, held: 0 });
  expect(await player.hold("a", 3)).toEqual({ outcome: "superseded", by: { fence: 1, n: 7 } });
  expect(await player.gather("a", 8)).toMatchObject({ outcome: "found", instances: [{ state: "running" }] });
});

test("a daemon that is asked to stop finishes what is in hand and says goodbye", async () => {
  await cluster.daemon("a").kill("SIGTERM");
  const seen = await cluster.observe();
  const started = await cluster.gateway().launch(request(4), PRINCIPAL, call());
  expect(new Set(started.map(({ node }) => node))).toEqual(new Set(["b", "c"]));
  await cluster.observed();
  expect(seen.filter(({ subject }) => subject.startsWith("hive.node.a.hold"))).toEqual([]);
});
