// Launches under random faults: frames lost, repeated and late, daemons frozen and killed, two gateways and repeated
// tokens. Whatever happened: no id twice, nothing oversold, no hold left, and what was promised is there.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fault } from "../../lib/fault.ts";
import type { Instance } from "../../lib/instance.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, type Gateway, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { NatsProxy } from "../support/nats-proxy.ts";

const ROUNDS = process.env.NIGHTPORTER_SOAK === "short" ? 12 : 150;
const NAMES = ["a", "b", "c", "d"];

let cluster: Cluster;
let proxies: NatsProxy[];
let gateways: Gateway[];

beforeAll(async () => {
  cluster = await Cluster.start({
    nodes: Object.fromEntries(NAMES.map((name) => [name, "8x16"])),
    // A release may be lost like any other message: such a hold lapses.
    windows: { leaseMs: 3000, budgetMs: 2700, holdMs: 1500 },
  });
  proxies = [await NatsProxy.start(cluster.natsUrl), await NatsProxy.start(cluster.natsUrl)];
  gateways = proxies.map(({ url }) => cluster.gateway({ natsUrl: url }));
});

afterAll(async () => {
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

/** A generator that can be run again: a failed round names its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`${ROUNDS} rounds of random faults keep every promise`, { timeout: ROUNDS * 30_000 }, async () => {
  const seed = Number(process.env.NIGHTPORTER_SEED) || (Date.now() & 0xffffffff) >>> 0;
  for (let round = 0; round < ROUNDS; round++) {
    try {
      await playRound(round, random(seed + round));
    } catch (error) {
      throw new Error(`round ${round} of seed ${seed} (NIGHTPORTER_SEED=${seed + round} runs it first)`, {
        cause: error,
      });
    }
  }
});

async function playRound(round: number, draw: () => number): Promise<void> {
  const victim = NAMES[Math.floor(draw() * NAMES.length)]!;
  const mood = ["none", "freeze", "kill"][Math.floor(draw() * 3)];
  for (const proxy of proxies) {
    proxy.rule = (_way, text) => {
      // Pings and set-up pass: a connection that cannot be made is another test's matter.
      if (!/PUB |MSG /.test(text)) return "pass";
      const dice = draw();
      if (dice < 0.04) return "drop";
      if (dice < 0.08) return "twice";
      return dice < 0.12 ? { delayMs: 40 } : "pass";
    };
  }
  const tokens = Array.from({ length: 3 }, (_, index) => ({
    token: `${round}-${index}`,
    count: 1 + Math.floor(draw() * 5),
  }));
  const launching = tokens.map(({ token, count }, index) =>
    launchUntilSettled(gateways[index % 2]!, token, count),
  );
  if (mood === "freeze") cluster.daemon(victim).freeze();
  if (mood === "kill") await cluster.daemon(victim).kill();
  if (mood === "freeze") await eventually("some of it went by", async () => draw() < 0.2);
  if (mood === "freeze") cluster.daemon(victim).thaw();
  if (mood === "kill") cluster.daemon(victim).start();
  await cluster.untilJoined();
  const settled = await Promise.all(launching);
  for (const proxy of proxies) proxy.rule = () => "pass";

  const live = await audit(cluster);
  const byId = new Map(live.map((instance) => [instance.id, instance]));
  for (const [index, outcome] of settled.entries()) {
    if (!Array.isArray(outcome)) {
      expect(outcome, `token ${tokens[index]!.token}`).toMatchObject({
        code: "InsufficientInstanceCapacity",
      });
      continue;
    }
    expect(outcome).toHaveLength(tokens[index]!.count);
    for (const { id } of outcome) expect(byId.has(id), `${id} was promised`).toBe(true);
    const again = await gateways[0]!.launch(
      request(tokens[index]!.count, { clientToken: tokens[index]!.token }),
      PRINCIPAL,
      call(),
    );
    expect(again.map(({ id }) => id).sort()).toEqual(outcome.map(({ id }) => id).sort());
  }
  if (live.length > 0) await gateways[0]!.instances.change(PRINCIPAL.account, "terminate", [...byId.keys()]);
}

/** Repeats a launch with its token as an SDK does, until it is decided one way or the other. */
async function launchUntilSettled(
  gateway: Gateway,
  clientToken: string,
  count: number,
): Promise<Instance[] | Fault> {
  for (;;) {
    try {
      return await gateway.launch(request(count, { clientToken }), PRINCIPAL, call());
    } catch (error) {
      const fault = error as Fault;
      if (fault.code !== "Unavailable" && fault.code !== "ServiceUnavailable") return fault;
    }
  }
}
