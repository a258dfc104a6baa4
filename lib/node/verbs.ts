// What this node answers by name: a handler for each row of the table of verbs.

import type * as z from "zod/mini";
import { type Incoming, parseTried } from "../exchange.ts";
import { type Answer, type Ask, HEADERS, VERBS, type Verb } from "../wire.ts";
import type { Guests } from "./guests.ts";
import type { InstanceStore } from "./instance-store.ts";
import type { LaunchDesk } from "./launch-desk.ts";
import type { Pulse } from "./pulse.ts";
import { readInstances } from "./read-instances.ts";
import type { Roster } from "./roster.ts";

export type VerbHandlers = { [V in Verb]: (ask: Ask<V>, tried: string[]) => Answer<V> };

export interface VerbDeps {
  desk: LaunchDesk;
  guests: Guests;
  store: InstanceStore;
  roster: Roster;
  status: () => Answer<"status">;
}

export const verbHandlers = ({ desk, guests, store, roster, status }: VerbDeps): VerbHandlers => ({
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
  status,
});

/** `hive.node.<name>.<verb>.<who asks>` */
export const verbOf = ({ subject }: Incoming): string => subject.split(".").at(-2) ?? "";

/** What may start something; after a standstill it waits for the news behind it. */
const STARTING: ReadonlySet<Verb> = new Set(["hold", "commit"]);

/**
 * Parses an ask by its row of the table and answers it.
 * @throws Error naming the subject when the ask does not fit; it is not answered
 */
export function serveVerb(
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
