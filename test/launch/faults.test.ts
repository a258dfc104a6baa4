// A real gateway whose messages are lost, repeated or late: the launch still ends in one reservation, or in a 503
// that the same token resolves, and never in a capacity error that was none.

import { afterEach, beforeEach, expect, test } from "vitest";
import { compareAttempts } from "../../lib/attempt.ts";
import type { Instance } from "../../lib/instance.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, type Gateway, PRINCIPAL, request } from "../support/cluster.ts";
import { type Fate, NatsProxy, type Way } from "../support/nats-proxy.ts";

let cluster: Cluster;
let proxy: NatsProxy;
let gateway: Gateway;

beforeEach(async () => {
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8", c: "4x8" } });
  proxy = await NatsProxy.start(cluster.natsUrl);
  gateway = cluster.gateway({ natsUrl: proxy.url });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const ids = (instances: readonly Instance[]) => instances.map(({ id }) => id).sort();

/** The first frame whose text matches meets the fate; all others pass. */
function once(way: Way, pattern: RegExp, fate: Fate) {
  let met = false;
  proxy.rule = (going, text) => {
    if (met || going !== way || !pattern.test(text)) return "pass";
    met = true;
    return fate;
  };
}

const LAUNCH = /PUB ec2\.RunInstances/;
const ACK = /Hive-Ack/;
const PLAN = /"outcome":"plan"/;
const STARTED = /"outcome":"started"/;
const COMMIT = /PUB hive\.node\.\w+\.commit/;

const lost: [string, Way, RegExp, number][] = [
  ["the launch itself is lost", "toServer", LAUNCH, 1],
  ["the acknowledgement is lost", "toClient", ACK, 1],
  ["the answer of a node that started everything is lost", "toClient", STARTED, 1],
  ["the plan is lost", "toClient", PLAN, 3],
  ["a commit is lost", "toServer", COMMIT, 3],
  ["the answer to a commit is lost", "toClient", STARTED, 3],
];

test.each(lost)(
  "when %s, the launch ends in one reservation and leaves nothing behind",
  async (_, way, pattern, count) => {
    once(way, pattern, "drop");
    const started = await gateway.launch(request(count), PRINCIPAL, call());
    expect(started).toHaveLength(count);
    expect(new Set(started.map(({ reservation }) => reservation)).size).toBe(1);
    expect(ids(await audit(cluster))).toEqual(ids(started));
  },
);

test.each([
  ["a launch", LAUNCH, 1],
  ["a launch of several parts", LAUNCH, 3],
  ["a commit", COMMIT, 3],
] as [string, RegExp, number][])(
  "when %s is delivered twice, no id is on two nodes and nothing is doubled",
  async (_, pattern, count) => {
    for (let round = 0; round < 3; round++) {
      once("toServer", pattern, "twice");
      const started = await gateway.launch(request(count), PRINCIPAL, call());
      expect(started).toHaveLength(count);
      expect(ids(await audit(cluster))).toEqual(ids(started));
      await gateway.instances.change(PRINCIPAL.account, "terminate", ids(started));
    }
  },
);

test("a launch that arrives after its deadline starts nothing", async () => {
  const { ackMs, gatherMs } = cluster.windows;
  once("toServer", LAUNCH, { delayMs: ackMs + gatherMs + 100 });
  const started = await gateway.launch(request(2), PRINCIPAL, call());
  expect(ids(await audit(cluster))).toEqual(ids(started));
});

test("a connection cut in mid-launch ends in one reservation, or a 503 that the same token resolves", async () => {
  let cut = false;
  proxy.rule = (way, text) => {
    if (!cut && way === "toServer" && LAUNCH.test(text)) {
      cut = true;
      setImmediate(() => proxy.cut());
    }
    return "pass";
  };
  const wanted = request(2, { clientToken: "cut" });
  const first = await gateway.launch(wanted, PRINCIPAL, call()).catch((error: unknown) => error);
  if (!Array.isArray(first)) expect(first).toMatchObject({ code: "Unavailable" });
  const started = await gateway.launch(wanted, PRINCIPAL, call());
  expect(started).toHaveLength(2);
  const live = await audit(cluster);
  for (const id of ids(started)) expect(ids(live)).toContain(id);
  // A node too slow for the gather may have started an attempt that lost: known by its record, for the sweep to end.
  for (const surplus of live.filter(({ id }) => !ids(started).includes(id))) {
    expect(surplus.launchKey).toBe(started[0]?.launchKey);
    expect(compareAttempts(surplus.attempt, started[0]!.attempt)).toBeLessThan(0);
  }
});
