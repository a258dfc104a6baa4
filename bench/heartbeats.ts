// Heartbeats: what an idle fleet says to itself, and whether that grows as its size or as its square.

import { setTimeout as delay } from "node:timers/promises";
import { connect } from "nats.ws";
import { GATEWAY_USER } from "../infra/local/account.ts";
import { readWindows } from "../lib/windows.ts";
import { beatSubject } from "../lib/wire.ts";
import { Cluster } from "../test/support/cluster.ts";
import type { Figure, Findings } from "./figure.ts";
import { startManyDaemons } from "./many-daemons.ts";
import { startBenchNats } from "./nats.ts";

const SMALL = 10;
const LARGE = 50;
const HUGE = 200;

/** Long enough for three beats of every node: the first gap may be shorter, from when it knew few others. */
const INTERVALS_WATCHED = 2.3;

const { beatMs, beatPerNodeMs } = readWindows(undefined);
const intervalMs = (nodes: number): number => Math.max(beatMs, nodes * beatPerNodeMs);

/** What was set down for the design: every max(2 s, N x 100 ms), heard by all N. */
const designed = (nodes: number): number => (nodes * nodes) / (intervalMs(nodes) / 1000);

/** A machine that falls behind beats in bursts. */
const MARGIN = 1.1;

export async function measureHeartbeats(): Promise<Findings> {
  await using small = await Cluster.start({
    nodes: Object.fromEntries(namesOf(SMALL).map((name) => [name, "8x16"])),
    windows: readWindows(undefined),
  });
  await using large = await startShared(LARGE);
  await using huge = await startShared(HUGE);
  const shared = "sharing one process, since as many processes would fill this machine";
  return {
    figures: await Promise.all([
      watch(SMALL, small.natsUrl, "a process each"),
      watch(LARGE, large.natsUrl, shared),
      watch(HUGE, huge.natsUrl, shared),
    ]),
  };
}

const namesOf = (nodes: number): string[] => Array.from({ length: nodes }, (_, at) => `node-${at + 1}`);

async function startShared(nodes: number): Promise<AsyncDisposable & { natsUrl: string }> {
  await using standing = new AsyncDisposableStack();
  const names = namesOf(nodes);
  const { url: natsUrl } = standing.use(await startBenchNats(names));
  standing.use(await startManyDaemons(names, natsUrl));
  const kept = standing.move();
  return { natsUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function watch(nodes: number, natsUrl: string, daemons: string): Promise<Figure> {
  const { name: user, password: pass } = GATEWAY_USER;
  const observer = await connect({ servers: natsUrl, user, pass });
  const beats = new Map<string, { at: number; gapMs: number; bytes: number }>();
  observer.subscribe(beatSubject("*"), {
    callback: (_error, { subject, data }) => {
      const at = performance.now();
      const last = beats.get(subject);
      beats.set(subject, { at, gapMs: last ? at - last.at : Number.POSITIVE_INFINITY, bytes: data.length });
    },
  });
  await delay(INTERVALS_WATCHED * intervalMs(nodes));
  await observer.close();
  // A node that was not seen to beat twice counts as one that beats no more.
  const rates = [...beats.values()].map(({ gapMs, bytes }) => ({ beats: 1000 / gapMs, bytes }));
  const sum = (of: (rate: { beats: number; bytes: number }) => number) =>
    rates.reduce((total, rate) => total + of(rate), 0) * nodes;
  const perSecond = sum((rate) => rate.beats);
  return {
    figure: `heartbeats.${nodes}-nodes`,
    value: perSecond,
    unit: "deliveries/s",
    aim: { atMost: MARGIN * designed(nodes) },
    beside: {
      perNode: perSecond / nodes,
      designed: designed(nodes),
      kBPerSecond: sum((rate) => rate.beats * rate.bytes) / 1000,
      beatingNodes: rates.filter((rate) => rate.beats > 0).length,
      longestGapMs: Math.max(...[...beats.values()].map(({ gapMs }) => gapMs).filter(Number.isFinite)),
    },
    how: `each node's beats per second by its last two beats that an observer saw on the wire of an idle fleet, times the ${nodes} nodes that a beat is delivered to; real daemons, ${daemons}; the aim is the design's linear rate and a tenth`,
  };
}
