// Leading a launch: from a claimed record to its decision.
//
// 1. An attempt is published; its plan is committed. Enough instances: the decision is written, then answered.
// 2. Silence, or too few commits: gather with the next attempt, which closes the older ones. Enough found: adopt.
//    Too few: undo those, and hand the next attempt to a node that has just answered, passing over the silent ones. By
//    name, since the queue group would hand it to a frozen node as readily as before.
// 3. A capacity error is answered only after `failed` is written, and that only while no node is under suspicion of
//    having started something. Else the record is left in flight and the caller told to come again.
// 4. Whoever finds that a newer attempt is at work stops, and joins.

import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../bus.ts";
import type { Exchange } from "../exchange.ts";
import { Fault } from "../fault.ts";
import type { Placed } from "../instance.ts";
import type { Windows } from "../windows.ts";
import { type LaunchAnswer, type LaunchRef, launchSubject, namedLaunchSubject } from "../wire.ts";
import {
  type Committed,
  chooseInstances,
  commitPlan,
  type Gathered,
  gatherLaunch,
  type PlanPart,
  releasePlan,
  undoInstances,
} from "./attempts.ts";
import { type Publishing, type PublishOutcome, publishLaunch } from "./publish.ts";
import type { LaunchRecord, LaunchRecords } from "./record.ts";

/** What the launch needs of the fleet: names to gather from, and where to note those that took part. */
export interface LaunchNodes {
  listed: readonly string[];
  expected: number;
  seenNow(): Promise<string[]>;
  saw(names: Iterable<string>): Promise<void>;
}

export interface LeadDeps {
  bus: Bus;
  records: LaunchRecords;
  nodes: LaunchNodes;
  windows: Windows;
}

export interface Wanted {
  account: string;
  type: string;
  minCount: number;
  maxCount: number;
  input: Record<string, unknown>;
  imageId: string;
  trace?: string | undefined;
}

export type Led = { outcome: "done"; instances: Placed[] } | { outcome: "joined"; record: LaunchRecord };

type Refused = Extract<LaunchAnswer, { outcome: "refused" }>;
type Next = Led | { outcome: "again"; unsure: boolean };

const AGAIN: Next = { outcome: "again", unsure: true };

/** Seconds after which a caller that was told to come again should. */
const COME_AGAIN_SECONDS = 1;

export class Lead {
  readonly #deps: LeadDeps;
  readonly #record: LaunchRecord;
  readonly #wanted: Wanted;
  readonly #giveUpAt: number;
  #n = 0;
  readonly #suspects: Set<string>;
  readonly #silent = new Set<string>();
  readonly #heardOf = new Set<string>();
  /** Nodes that answered the last gather. */
  #awake: string[] = [];
  /** Attempts that nobody acknowledged in time, whose inboxes stay open: a slow node may still say that it works. */
  readonly #unheard: Pick<Publishing, "signs" | "echoes">[] = [];

  /** @param giveUpAt epoch milliseconds after which no new attempt is begun */
  constructor(deps: LeadDeps, record: LaunchRecord, wanted: Wanted, giveUpAt: number) {
    this.#deps = deps;
    this.#record = record;
    this.#wanted = wanted;
    this.#giveUpAt = Math.min(giveUpAt, record.leaseUntil - deps.windows.skewMs);
    this.#suspects = new Set(record.suspects);
  }

  /** A launch that has just been claimed: nothing of it can be anywhere. */
  run(exchange: Exchange): Promise<Led> {
    return this.#attempts(exchange, [launchSubject(this.#wanted.type), launchSubject()]);
  }

  /** A launch whose owner is gone: first see what it left. */
  async takeUp(exchange: Exchange): Promise<Led> {
    const seen = await this.#deps.nodes.seenNow();
    // An owner that did not leave in order may have been anywhere.
    if (!this.#record.suspects) this.#suspectAll(seen);
    const next = await this.#gather(exchange);
    return next.outcome === "again" ? this.#attempts(exchange, this.#subjects()) : next;
  }

  async #attempts(first: Exchange, firstSubjects: readonly string[]): Promise<Led> {
    try {
      return await this.#untilDecided(first, firstSubjects);
    } finally {
      for (const { echoes } of this.#unheard) echoes();
    }
  }

  async #untilDecided(first: Exchange, firstSubjects: readonly string[]): Promise<Led> {
    let exchange = first;
    for (let subjects = firstSubjects; ; subjects = this.#subjects()) {
      const next = await this.#attempt(exchange, subjects);
      if (next.outcome !== "again") return next;
      if (Date.now() >= this.#giveUpAt) return this.#leave("The launch could not be decided in time");
      exchange = await this.#deps.bus.exchange();
      // A node that was busy until its deadline, or whose clock disagrees, would answer the same at once.
      if (!next.unsure) await sleep(this.#deps.windows.busyMaxMs);
      else {
        const found = await this.#gather(exchange);
        if (found.outcome !== "again") return found;
        if (Date.now() >= this.#giveUpAt) return this.#leave("The launch could not be decided in time");
      }
    }
  }

  /** A fleet's first launch may have met nodes that are listed and not yet noted as seen. */
  #suspectAll(seen: readonly string[]): void {
    for (const name of [...seen, ...this.#deps.nodes.listed]) this.#suspects.add(name);
  }

  #nextLaunch(): LaunchRef {
    this.#n += 1;
    const { pk: key, reservation, fence } = this.#record;
    return { key, reservation, account: this.#wanted.account, attempt: { fence, n: this.#n } };
  }

  get #deadline(): number {
    const { launchMs, skewMs } = this.#deps.windows;
    return Math.min(Date.now() + launchMs, this.#record.leaseUntil - skewMs);
  }

  /** Where an attempt goes that is not the first. */
  #subjects(): string[] {
    const awake = this.#awake[Math.floor(Math.random() * this.#awake.length)];
    return [...(awake ? [namedLaunchSubject(awake)] : []), launchSubject()];
  }

  async #attempt(exchange: Exchange, subjects: readonly string[]): Promise<Next> {
    const launch = this.#nextLaunch();
    const { maxCount, input, trace } = this.#wanted;
    const tried = [...this.#silent];
    const deadline = this.#deadline;
    const {
      outcome: published,
      echoes,
      signs,
    } = await publishLaunch(
      exchange,
      this.#deps.windows,
      { launch, maxCount, input, tried, deadline, trace },
      subjects,
    );
    let next: Next | undefined;
    try {
      next = await this.#follow(exchange, launch, published, deadline);
      return next;
    } finally {
      if (published.outcome === "silent" && !published.by) this.#unheard.push({ signs, echoes });
      else await this.#clearEchoes(exchange, launch, echoes(), next);
    }
  }

  async #follow(
    exchange: Exchange,
    launch: LaunchRef,
    published: PublishOutcome,
    deadline: number,
  ): Promise<Next> {
    if (published.outcome === "absent")
      return this.#fail(new Fault("ServiceUnavailable", "No node daemon is connected"));
    if (published.outcome === "closed") {
      // Whether anybody acknowledged cannot be known: it may be any of them.
      this.#suspectAll(await this.#deps.nodes.seenNow());
      return AGAIN;
    }
    if (published.outcome === "silent") {
      if (published.by) this.#suspects.add(published.by);
      return AGAIN;
    }
    const { answer } = published;
    switch (answer.outcome) {
      case "started":
        this.#heardOf.add(answer.node);
        return this.#decide(exchange, answer.instances, launch);
      case "plan":
        return this.#commit(exchange, launch, answer.parts, deadline);
      case "refused":
        return this.#refuse(answer);
      case "invalid":
        return this.#fail(new Fault("InvalidParameterValue", answer.message));
      case "late":
        return { outcome: "again", unsure: false };
      case "superseded":
        return this.#join();
      default:
        return answer satisfies never;
    }
  }

  /** Ends what a launch that was delivered twice has started or set aside beside the answer. */
  async #clearEchoes(
    exchange: Exchange,
    launch: LaunchRef,
    echoes: readonly LaunchAnswer[],
    next: Next | undefined,
  ): Promise<void> {
    const plans = echoes.flatMap((echo) => (echo.outcome === "plan" ? echo.parts : []));
    await releasePlan(exchange, this.#deps.windows, launch, plans);
    const started = echoes.flatMap((echo) => (echo.outcome === "started" ? echo.instances : []));
    // Whoever goes on from here gathers, and meets them there.
    if (started.length === 0 || next?.outcome === "again" || next?.outcome === "joined") return;
    const kept = new Set(next?.instances.map(({ id, node }) => `${id} ${node}`));
    const surplus = started.filter(({ id, node }) => !kept.has(`${id} ${node}`));
    await undoInstances(exchange, this.#deps.windows, this.#nextLaunch(), surplus);
  }

  async #commit(exchange: Exchange, launch: LaunchRef, parts: PlanPart[], deadline: number): Promise<Next> {
    for (const { node } of parts) this.#heardOf.add(node);
    const { windows } = this.#deps;
    const ask = { launch, input: this.#wanted.input, deadline };
    const committed: Committed = await commitPlan(exchange, windows, parts, ask);
    if (committed.superseded) return this.#join();
    for (const node of committed.silent) this.#suspects.add(node);
    const enough = committed.instances.length >= this.#wanted.minCount && committed.silent.length === 0;
    return enough ? this.#decide(exchange, committed.instances, launch) : AGAIN;
  }

  /** Sees what is on the nodes, closing all older attempts; adopts it or clears it away. */
  async #gather(exchange: Exchange): Promise<Next> {
    const { nodes, windows } = this.#deps;
    const launch = this.#nextLaunch();
    const names = new Set([...(await nodes.seenNow()), ...nodes.listed, ...this.#heardOf, ...this.#suspects]);
    const gathered: Gathered = await gatherLaunch(exchange, windows, names, launch);
    if (gathered.superseded) return this.#join();
    this.#awake = gathered.answered;
    for (const node of gathered.answered) this.#suspects.delete(node);
    for (const node of gathered.unanswered) this.#silent.add(node);
    for (const node of gathered.answered) this.#silent.delete(node);
    const { kept, surplus } = chooseInstances(gathered.instances, this.#wanted.maxCount);
    const enough = kept.length >= this.#wanted.minCount;
    const unsure = await undoInstances(exchange, windows, launch, enough ? surplus : [...kept, ...surplus]);
    for (const node of unsure) this.#suspects.add(node);
    return enough ? this.#decide(exchange, kept, launch) : AGAIN;
  }

  async #decide(exchange: Exchange, instances: readonly Placed[], launch: LaunchRef): Promise<Led> {
    const sorted = [...instances].sort((a, b) => a.index - b.index);
    const { records, nodes, windows } = this.#deps;
    const [decided] = await Promise.all([
      records.decide(this.#record, sorted),
      // A note for later requests: without it this launch is as decided.
      nodes.saw([...this.#heardOf, ...sorted.map(({ node }) => node)]).catch(() => {}),
    ]);
    if (decided.outcome === "led") return { outcome: "done", instances: sorted };
    // Somebody took the launch over meanwhile. What it does not list is nobody's.
    const listed = new Set(decided.record.ids);
    const unlisted = sorted.filter(({ id }) => !listed.has(id));
    if (decided.record.phase === "done") await undoInstances(exchange, windows, launch, unlisted);
    return { outcome: "joined", record: decided.record };
  }

  #refuse(answer: Refused): Promise<Led> {
    const { type, imageId } = this.#wanted;
    const complete =
      answer.unanswered.length === 0 &&
      this.#silent.size === 0 &&
      answer.answered.length >= this.#deps.nodes.expected;
    if (answer.why === "image" && complete) {
      return this.#fail(new Fault("UnknownImage", `The image id '[${imageId}]' does not exist`));
    }
    if (answer.why === "size" && complete) {
      return this.#fail(new Fault("Unsupported", `No node of this fleet is large enough for ${type}`));
    }
    return this.#fail(
      new Fault(
        "InsufficientInstanceCapacity",
        refusalWords(this.#wanted, answer, this.#deps.nodes.expected),
        {
          retryAfterSeconds: COME_AGAIN_SECONDS,
        },
      ),
    );
  }

  /** Ends the launch with nothing started, if that is certain. */
  async #fail(fault: Fault): Promise<Led> {
    for (const { signs } of this.#unheard) {
      for (const name of signs) if (this.#silent.has(name)) this.#suspects.add(name);
    }
    if (this.#suspects.size > 0) {
      return this.#leave(`${[...this.#suspects].join(", ")} did not say what became of this launch`);
    }
    const failed = await this.#deps.records.fail(this.#record, fault);
    if (failed.outcome === "led") throw fault;
    return { outcome: "joined", record: failed.record };
  }

  async #leave(reason: string): Promise<never> {
    await this.#deps.records.leave(this.#record, [...this.#suspects]);
    throw new Fault("Unavailable", `${reason}; send the same request again with the same ClientToken`, {
      retryAfterSeconds: COME_AGAIN_SECONDS,
    });
  }

  async #join(): Promise<Led> {
    const record = await this.#deps.records.read(this.#record.pk);
    if (!record) throw new Fault("Unavailable", "The launch record is gone");
    return { outcome: "joined", record };
  }
}

/** Says how much of the fleet was asked, so that a refusal by a degraded fleet can be told from one by a full fleet. */
function refusalWords(
  { minCount, type }: Wanted,
  { answered, unanswered }: Refused,
  expected: number,
): string {
  const asked = answered.length + unanswered.length;
  const notes = [
    ...(unanswered.length > 0 ? [`${unanswered.join(", ")} did not answer`] : []),
    ...(asked < expected ? [`the fleet should have ${expected}`] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join("; ")})` : "";
  return `There is no room for ${minCount} x ${type} on the ${asked} ${asked === 1 ? "node" : "nodes"} asked${note}`;
}
