// The daemon: one node of the fleet, put together from its parts.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type * as z from "zod/mini";
import type { Exchange, Incoming } from "../exchange.ts";
import { parseTried, triedHeader } from "../exchange.ts";
import {
  type Answer,
  type Ask,
  HEADERS,
  NAMED_LAUNCH,
  roomAnswerSchema,
  roomSubject,
  VERBS,
  type Verb,
  verbsOf,
} from "../wire.ts";
import { AttemptMemory } from "./attempt-memory.ts";
import { DRIVERS } from "./drivers/table.ts";
import { Guests } from "./guests.ts";
import { Heart } from "./heart.ts";
import { InstanceStore } from "./instance-store.ts";
import { LaunchDesk } from "./launch-desk.ts";
import { Ledger } from "./ledger.ts";
import { openLink } from "./link.ts";
import type { Log } from "./log.ts";
import { Pulse } from "./pulse.ts";
import { readInstances } from "./read-instances.ts";
import { RoomSubjects } from "./room-subjects.ts";
import { Roster } from "./roster.ts";
import type { NodeSettings } from "./settings.ts";

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
  const link = await openLink({
    node,
    nats: settings.nats,
    dialMs: windows.dialMs,
    log,
    signal,
    back: () => back(),
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
    sources: sourcesOf(node, exchange, roster, settings),
    commit: async (peer, ask) => {
      const asked = await exchange.ask(peer, "commit", ask, windows.commitMs);
      return asked.outcome === "answered" ? asked.answer : undefined;
    },
    undo: async (peer, ask) => void (await exchange.ask(peer, "undo", ask, windows.commitMs)),
  });
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
  const verbs: VerbHandlers = {
    hold: (ask, tried) => desk.hold(ask, tried),
    release: (ask) => desk.release(ask),
    commit: (ask) => desk.commit(ask),
    gather: (ask) => desk.gather(ask),
    undo: (ask) => desk.undo(ask),
    instances: (ask) => {
      guests.purge();
      return { ...readInstances(store, ask), roster: roster.known() };
    },
    change: ({ account, change, ids }) => ({ results: ids.map((id) => guests.change(account, change, id)) }),
    status: () => ({
      node,
      joined,
      free: ledger.free,
      total: ledger.total,
      held: ledger.held,
      instances: store.all().length,
      roster: roster.known(),
      types: subjects.types,
    }),
  };
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
  guests.resume();
  await link.flush();
  joined = true;
  back = () => void heart.greet().catch(failed);
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
      await link.flush();
      await link.close();
      memory.close();
    },
  };
}

type VerbHandlers = { [V in Verb]: (ask: Ask<V>, tried: string[]) => Answer<V> };

/** `hive.node.<name>.<verb>.<who asks>` */
const verbOf = ({ subject }: Incoming): string => subject.split(".").at(-2) ?? "";

/** What may start something; after a standstill it waits for the news behind it. */
const STARTING: ReadonlySet<Verb> = new Set(["hold", "commit"]);

/** Parses an ask by its row of the table and answers it. One that does not fit is logged and not answered. */
function serveVerb(
  verbs: VerbHandlers,
  incoming: Incoming,
  pulse: Pulse,
  current: () => Promise<void>,
): Promise<void> | void {
  const verb = verbOf(incoming) as Verb;
  if (!Object.hasOwn(VERBS, verb)) return;
  const ask = (VERBS[verb].ask as z.ZodMiniType).safeParse(incoming.body ?? {});
  if (!ask.success) throw new Error(`${incoming.subject}: ${ask.error.issues[0]?.message}`);
  const handle = verbs[verb] as (ask: unknown, tried: string[]) => unknown;
  const answer = () => incoming.reply(handle(ask.data, parseTried(incoming.header(HEADERS.tried))));
  if (STARTING.has(verb) && pulse.stalled) return current().then(answer);
  answer();
}

function sourcesOf(node: string, exchange: Exchange, roster: Roster, { windows }: NodeSettings) {
  let minted = 0;
  // The start of the process is part of a hold's name: a restarted daemon must not mint one again.
  const born = Date.now().toString(36);
  return {
    peers: () => roster.peers(),
    ask: async (peer: string, ask: Ask<"hold">, tried: readonly string[]) => {
      const asked = await exchange.ask(peer, "hold", ask, windows.askMs, triedHeader(tried));
      if (asked.outcome === "absent") roster.absent(peer);
      if (asked.outcome === "silent") roster.silent(peer);
      return asked;
    },
    release: async (peer: string, launch: Ask<"release">["launch"], hold: string) => {
      await exchange.ask(peer, "release", { launch, hold }, windows.askMs);
    },
    whoHasRoom: async (type: string) => {
      const asked = await exchange.request(roomSubject(type, node), {}, roomAnswerSchema, windows.askMs);
      return asked.outcome === "answered" ? asked.answer.node : undefined;
    },
    pauseMs: () => windows.busyMinMs + Math.random() * (windows.busyMaxMs - windows.busyMinMs),
    mintHold: (peer: string) => `${node}-${born}-${(minted++).toString(36)}-${peer}`,
  };
}
