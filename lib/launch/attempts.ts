// What the holder of a launch record does with the nodes: commit a plan, gather what is there, undo what is too much.
//
// Suspects are nodes that may have started something for this launch and have not said so. A capacity error may only
// be answered while there are none. A node that answers a gather is no suspect: everything older is closed there.

import { gather } from "../bus.ts";
import type { Exchange } from "../exchange.ts";
import type { Placed } from "../instance.ts";
import type { Windows } from "../windows.ts";
import type { Answer, Ask, LaunchRef, Seat } from "../wire.ts";

export interface PlanPart {
  node: string;
  hold: string;
  seats: Seat[];
}

export interface Committed {
  instances: Placed[];
  /** Nodes that were sent a commit and said nothing. */
  silent: string[];
  superseded: boolean;
}

/** Sends a plan's commits at once. A node that is absent was sent nothing and has started nothing. */
export async function commitPlan(
  exchange: Exchange,
  windows: Windows,
  parts: readonly PlanPart[],
  ask: Omit<Ask<"commit">, "hold" | "seats">,
): Promise<Committed> {
  const committed: Committed = { instances: [], silent: [], superseded: false };
  await Promise.all(
    parts.map(async ({ node, hold, seats }) => {
      const asked = await exchange.ask(node, "commit", { ...ask, hold, seats }, windows.commitMs);
      if (asked.outcome === "answered") take(committed, asked.answer);
      else if (asked.outcome !== "absent") committed.silent.push(node);
    }),
  );
  return committed;
}

function take(committed: Committed, answer: Answer<"commit">): void {
  if (answer.outcome === "started") committed.instances.push(...answer.instances);
  if (answer.outcome === "superseded") committed.superseded = true;
}

export interface Gathered {
  instances: Placed[];
  answered: string[];
  unanswered: string[];
  superseded: boolean;
}

/** Asks all nodes what this launch left there, which closes every older attempt on those that answer. */
export async function gatherLaunch(
  exchange: Exchange,
  windows: Windows,
  names: Iterable<string>,
  launch: LaunchRef,
): Promise<Gathered> {
  const gathered: Gathered = { instances: [], answered: [], unanswered: [], superseded: false };
  for (const [node, asked] of await gather(exchange, names, "gather", { launch }, windows.gatherMs)) {
    if (asked.outcome !== "answered") {
      gathered.unanswered.push(node);
      continue;
    }
    gathered.answered.push(node);
    if (asked.answer.outcome === "superseded") gathered.superseded = true;
    else gathered.instances.push(...asked.answer.instances);
  }
  return gathered;
}

/** Gives a plan's holds back. One that does not hear it lets them lapse. */
export async function releasePlan(
  exchange: Exchange,
  windows: Windows,
  launch: LaunchRef,
  parts: readonly PlanPart[],
): Promise<void> {
  await Promise.all(
    parts.map(({ node, hold }) => exchange.ask(node, "release", { launch, hold }, windows.askMs)),
  );
}

/** Ends instances nobody will be told about. @returns nodes that did not say they have */
export async function undoInstances(
  exchange: Exchange,
  windows: Windows,
  launch: LaunchRef,
  instances: readonly Placed[],
): Promise<string[]> {
  const unsure: string[] = [];
  const byNode = Map.groupBy(instances, ({ node }) => node);
  await Promise.all(
    [...byNode].map(async ([node, held]) => {
      const ids = held.map(({ id }) => id);
      const asked = await exchange.ask(node, "undo", { launch, ids }, windows.commitMs);
      if (asked.outcome !== "answered" || asked.answer.outcome !== "undone") unsure.push(node);
    }),
  );
  return unsure;
}

/**
 * Those a reservation keeps when more were found than it may have: older attempts first, then by index. An id that is
 * on two nodes, since its launch was delivered twice, is kept on one.
 */
export function chooseInstances(
  found: readonly Placed[],
  maxCount: number,
): { kept: Placed[]; surplus: Placed[] } {
  const sorted = [...found].sort(
    (a, b) => a.attempt.fence - b.attempt.fence || a.attempt.n - b.attempt.n || a.index - b.index,
  );
  const kept = new Map<string, Placed>();
  const surplus: Placed[] = [];
  for (const instance of sorted) {
    if (kept.size < maxCount && !kept.has(instance.id)) kept.set(instance.id, instance);
    else surplus.push(instance);
  }
  return { kept: [...kept.values()], surplus };
}
