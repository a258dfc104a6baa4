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

/** Fleets whose daemons are processes, and one whose daemons share this process. */
const SMALL = 10;
const LARGE = 50;
const HUGE = 200;

/** Beats are periodic: in one interval each node beats once. */
const INTERVALS_WATCHED = 1;

const { beatMs, beatPerNodeMs } = readWindows(undefined);
const intervalMs = (nodes: number): number => Math.max(beatMs, nodes * beatPerNodeMs);

/** What was set down for the design: every max(2 s, N x 100 ms), heard by all N. */
const wanted = (nodes: number): number => (nodes * nodes) / (intervalMs(nodes) / 1000);

/** A beat more or less falls into the time watched. */
const MARGIN = 1.1;

export async function measureHeartbeats(): Promise<Findings> {
  const names = namesOf(HUGE);
  await using small = await startProcesses(SMALL);
  await using large = await startProcesses(LARGE);
  await using nats = await startBenchNats(names);
  await using _huge = await startManyDaemons(names, nats.url);
  const processes = "a process each";
  return {
    figures: await Promise.all([
      watch(SMALL, small.natsUrl, processes),
      watch(LARGE, large.natsUrl, processes),
      watch(HUGE, nats.url, "sharing one process, since two hundred would fill this machine"),
    ]),
  };
}

const namesOf = (nodes: number): string[] => Array.from({ length: nodes }, (_, at) => `node-${at + 1}`);

const startProcesses = (nodes: number): Promise<Cluster> =>
  Cluster.start({
    nodes: Object.fromEntries(namesOf(nodes).map((name) => [name, "8x16"])),
    windows: readWindows(undefined),
  });

async function watch(nodes: number, natsUrl: string, daemons: string): Promise<Figure> {
  const { name: user, password: pass } = GATEWAY_USER;
  const observer = await connect({ servers: natsUrl, user, pass });
  // Whoever started first set its clock when it knew few others.
  await delay(intervalMs(nodes));
  let beats = 0;
  let bytes = 0;
  const forMs = INTERVALS_WATCHED * intervalMs(nodes);
  observer.subscribe(beatSubject("*"), {
    callback: (_error, message) => {
      beats += 1;
      bytes += message.data.length;
    },
  });
  await delay(forMs);
  await observer.close();
  const perSecond = (beats * nodes) / (forMs / 1000);
  return {
    figure: `heartbeats.${nodes}-nodes`,
    value: perSecond,
    unit: "deliveries/s",
    aim: { atMost: MARGIN * wanted(nodes) },
    beside: {
      perNode: perSecond / nodes,
      designed: wanted(nodes),
      kBPerSecond: (bytes * nodes) / forMs,
      beats,
      watchedSeconds: forMs / 1000,
    },
    how: `beats that an observer saw on the wire of an idle fleet, times the ${nodes} nodes that each is delivered to; real daemons, ${daemons}; the aim is the design's linear rate and a tenth`,
  };
}
