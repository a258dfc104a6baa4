// The daemon: one node of the fleet, put together from its parts.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { Incoming } from "../exchange.ts";
import { NAMED_LAUNCH, verbsOf } from "../wire.ts";
import { AttemptMemory } from "./attempt-memory.ts";
import { DRIVERS } from "./drivers/table.ts";
import { Guests } from "./guests.ts";
import { Heart } from "./heart.ts";
import { InstanceStore } from "./instance-store.ts";
import { LaunchDesk } from "./launch-desk.ts";
import { Ledger } from "./ledger.ts";
import { openLink } from "./link.ts";
import type { Log } from "./log.ts";
import { peersOf } from "./peers.ts";
import { Pulse } from "./pulse.ts";
import { RoomSubjects } from "./room-subjects.ts";
import { Roster } from "./roster.ts";
import type { NodeSettings } from "./settings.ts";
import { serveVerb, verbHandlers, verbOf } from "./verbs.ts";

/** How often terminated instances are looked through. */
const PURGE_EVERY_MS = 60_000;

export interface Daemon {
  /** Takes nothing new, finishes what is in hand, says goodbye. Instances stay. */
  stop: () => Promise<void>;
}

/** Resolves when the node takes launches. */
export async function startDaemon(settings: NodeSettings, log: Log, signal: AbortSignal): Promise<Daemon> {
  const { name: node, windows, dataDir } = settings;
  const now = () => performance.now();
  mkdirSync(dataDir, { recursive: true });
  const ledger = new Ledger({
    total: settings.total,
    holdMs: windows.holdMs,
    rememberMs: windows.rememberMs,
    now,
  });
  const memory = new AttemptMemory(join(dataDir, "attempts"), windows.rememberMs);
  const store = new InstanceStore(join(dataDir, "instances"));
  const driver = DRIVERS[settings.driver]({ dataDir, bootMs: settings.bootMs });
  const roster = new Roster({
    self: node,
    beatMs: windows.beatMs,
    beatPerNodeMs: windows.beatPerNodeMs,
    now,
  });
  const failed = (error: unknown) => log.error("handler", error);

  let roomChanged = () => {};
  const guests = new Guests({ store, ledger, driver, log, roomChanged: () => roomChanged() });

  let back = () => {};
  let lost = () => {};
  const link = await openLink({
    node,
    nats: settings.nats,
    dialMs: windows.dialMs,
    log,
    signal,
    back: () => back(),
    lost: () => lost(),
  });
  const { exchange } = link;
  const desk = new LaunchDesk({
    node,
    windows,
    ledger,
    memory,
    store,
    guests,
    driver,
    ...peersOf(node, exchange, roster, windows),
  });
  guests.resume();
  const pulse = new Pulse();
  const current = async () => {
    if (pulse.stalled) await link.flush();
  };
  const work = new Set<Promise<unknown>>();
  const launch = (incoming: Incoming): Promise<void> => {
    const running: Promise<void> = current()
      .then(() => desk.launch(incoming))
      .finally(() => work.delete(running));
    work.add(running);
    return running;
  };
  const subjects = new RoomSubjects({
    node,
    exchange,
    fits: (type) => ledger.roomBesideHolds(type) > 0,
    launch,
    failed,
  });
  const heart = new Heart({
    node,
    exchange,
    ledger,
    roster,
    expectedNodes: settings.expectedNodes,
    hearMs: windows.hearMs,
    failed,
  });
  let joined = false;
  const status = () => ({
    node,
    joined,
    free: ledger.free,
    total: ledger.total,
    held: ledger.held,
    instances: store.all().length,
    roster: roster.known(),
    types: subjects.types,
  });
  const verbs = verbHandlers({ desk, guests, store, roster, status });
  const serving = exchange.serve(
    verbsOf(node),
    undefined,
    (incoming) =>
      verbOf(incoming) === NAMED_LAUNCH ? launch(incoming) : serveVerb(verbs, incoming, pulse, current),
    failed,
  );

  roomChanged = () => {
    subjects.refresh();
    heart.roomChanged();
  };
  await heart.greet();
  subjects.join();
  await link.flush();
  joined = true;
  // Back in the queue group only when the fleet has been heard again, as at the start.
  let outages = 0;
  lost = () => {
    outages += 1;
    subjects.lost();
  };
  back = () => {
    const seen = outages;
    heart.greet().then(() => seen === outages && subjects.join(), failed);
  };
  log.info("joined", { roster: roster.known(), total: settings.total });

  const purging = setInterval(() => guests.purge(), PURGE_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(purging);
      pulse.stop();
      await subjects.leave();
      await Promise.allSettled([...work]);
      heart.stop();
      await serving.drain();
      // A launch handed over by name may have come in until then.
      await Promise.allSettled([...work]);
      await link.flush();
      await link.close();
      memory.close();
    },
  };
}
