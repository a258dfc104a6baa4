// Exhaustion: how soon a caller is told that no node has room, also when one of the nodes is frozen.

import { readWindows } from "../lib/windows.ts";
import { Cluster } from "../test/support/cluster.ts";
import { eventually } from "../test/support/eventually.ts";
import { ASK_SIZE, openBareRequest } from "./bare-request.ts";
import type { Figure, Findings } from "./figure.ts";
import { type Gateway, type Launched, openGateway } from "./gateway.ts";
import { median, quantile, repeat, timed } from "./sample.ts";

/** Exactly one t3.micro. */
const ONE_PLACE = "2x1";
const WARM_UP = 30;
const OK = 200;
/** A frozen node is forgotten after three missed beats; each freeze is measured for less than that. */
const FREEZES = 3;
const FROZEN_MS = 4000;
const CALM_ROUNDS = 60;
const CALM_MS = 5000;
const AIM_FROZEN_MS = 250;

const FLEETS = [
  { nodes: 3, aimMs: 5 },
  { nodes: 50, aimMs: 50 },
];

export async function measureExhaustion(): Promise<Findings> {
  const figures: Figure[] = [];
  for (const { nodes, aimMs } of FLEETS) figures.push(...(await measureFleet(nodes, aimMs)));
  return { figures };
}

async function measureFleet(nodes: number, aimMs: number): Promise<Figure[]> {
  const names = Array.from({ length: nodes }, (_, at) => `node-${at + 1}`);
  await using cluster = await Cluster.start({
    nodes: Object.fromEntries(names.map((name) => [name, ONE_PLACE])),
    windows: readWindows(undefined),
  });
  for (const name of names) await cluster.occupy(name, 1);
  await using gateway = await openGateway(cluster);
  await using bare = await openBareRequest(cluster, ASK_SIZE);
  const bareMs: number[] = [];
  const calm = new Refusals(gateway);
  const frozen = new Refusals(gateway);
  await repeat({ rounds: WARM_UP, withinMs: CALM_MS }, () => new Refusals(gateway).take());

  for (let freeze = 0; freeze < FREEZES; freeze++) {
    await repeat({ rounds: CALM_ROUNDS, withinMs: CALM_MS }, async () => {
      bareMs.push((await timed(() => bare.send())).ms);
      await calm.take();
    });
    const victim = cluster.daemon(names[freeze % nodes]!);
    victim.freeze();
    await repeat({ rounds: CALM_ROUNDS, withinMs: FROZEN_MS }, () => frozen.take());
    victim.thaw();
    await eventually(`${victim.name} answers again`, () => cluster.status(victim.name));
  }
  const calmMs = median(calm.lessWritesMs);
  const frozenMs = median(frozen.lessWritesMs);
  return [
    {
      figure: `exhaustion.${nodes}-full`,
      value: calmMs,
      unit: "ms",
      aim: { atMost: aimMs },
      beside: {
        perNodeMs: calmMs / nodes,
        bareRequestMs: median(bareMs),
        p99Ms: quantile(calm.lessWritesMs, 0.99),
        writesMs: median(calm.found.map(({ writesMs }) => writesMs)),
        wholeMs: median(calm.found.map(({ ms }) => ms)),
        ...calm.counts,
      },
      how: `p50 from the request to InsufficientInstanceCapacity, less the table writes, ${nodes} full nodes`,
    },
    {
      figure: `exhaustion.${nodes}-full-one-frozen`,
      value: frozenMs - calmMs,
      unit: "ms more",
      aim: { atMost: AIM_FROZEN_MS },
      beside: { frozenMs, calmMs, p90Ms: quantile(frozen.lessWritesMs, 0.9), ...frozen.counts },
      how: `p50 with one of the ${nodes} stopped by SIGSTOP, less p50 without, less the table writes; in turn, while the others still count it as there`,
    },
  ];
}

/** Launches that were refused for want of room, and how many ended otherwise. */
class Refusals {
  readonly #gateway: Gateway;
  readonly found: Launched[] = [];
  #others = 0;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async take(): Promise<void> {
    const launch = await this.#gateway.launch();
    if (launch.status === OK) throw new Error("a launch on full nodes found room");
    // A busy machine may take longer than a window of the gateway's: not what is measured here, but told.
    if (launch.code === "InsufficientInstanceCapacity") this.found.push(launch);
    else this.#others += 1;
  }

  get lessWritesMs(): number[] {
    return this.found.map(({ ms, writesMs }) => ms - writesMs);
  }

  get counts() {
    return { launches: this.found.length, otherAnswers: this.#others };
  }
}
