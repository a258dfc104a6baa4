// The instances of an account, wherever they are: found by asking the nodes, changed by their owners.

import type { Bus } from "../bus.ts";
import type { Exchange } from "../exchange.ts";
import { Fault } from "../fault.ts";
import { type Change, type Instance, type InstanceState, MOVES } from "../instance.ts";
import type { Windows } from "../windows.ts";
import type { Answer } from "../wire.ts";
import type { KnownNodes } from "./known-nodes.ts";

export interface InstancesDeps {
  bus: Bus;
  nodes: KnownNodes;
  windows: Windows;
}

export interface StateChange {
  id: string;
  previous: InstanceState;
  current: InstanceState;
}

export interface Instances {
  /**
   * @param ids those wanted, or undefined for all that live nodes hold
   * @throws Fault UnknownInstance naming all that are missing, if every node seen lately has answered;
   *   ServiceUnavailable naming the nodes that did not, otherwise
   */
  describe(account: string, ids: readonly string[] | undefined): Promise<Instance[]>;
  /**
   * Checks all of them, then acts on all of them.
   * @throws Fault UnknownInstance, IncorrectInstanceState: nothing was changed; InsufficientInstanceCapacity;
   *   Unavailable when a node did not say what became of it
   */
  change(account: string, change: Change, ids: readonly string[]): Promise<StateChange[]>;
}

export function createInstances({ bus, nodes, windows }: InstancesDeps): Instances {
  const describe: Instances["describe"] = async (account, ids) => {
    const [exchange, seen] = await Promise.all([bus.exchange(), nodes.seen()]);
    const sweep = new Sweep(exchange, account, ids, windows.readMs);
    await sweep.ask([...seen, ...nodes.listed]);
    if (ids && sweep.missing().length > 0) {
      const now = await nodes.seenNow();
      await sweep.ask(now);
      sweep.refuseMissing(now);
    }
    sweep.refuseSilence();
    await nodes.saw(sweep.answered);
    return sweep.found();
  };

  const change: Instances["change"] = async (account, change, ids) => {
    const standing = await describe(account, ids);
    const wrong = standing.filter(({ state }) => MOVES[change][state] === "wrong-state");
    if (wrong.length > 0) throw wrongState(change, wrong);
    const byNode = Map.groupBy(standing, ({ node }) => node);
    const exchange = await bus.exchange();
    const results = await Promise.all(
      [...byNode].map(async ([node, held]) => {
        const asked = await exchange.ask(
          node,
          "change",
          { account, change, ids: held.map(({ id }) => id) },
          windows.changeMs,
        );
        if (asked.outcome === "answered") return asked.answer.results;
        throw new Fault(
          "Unavailable",
          `Node ${node} did not say whether it did ${change} ${held.map(({ id }) => id).join(", ")}`,
        );
      }),
    );
    const all = new Map(results.flat().map((result) => [result.id, result]));
    return ids.map((id) => settled(change, id, all.get(id)));
  };

  return { describe, change };
}

/** One question to the whole fleet, asked of every node that any of them knows. */
class Sweep {
  readonly #exchange: Exchange;
  readonly #account: string;
  readonly #ids: readonly string[] | undefined;
  readonly #withinMs: number;
  readonly #asked = new Set<string>();
  readonly #instances = new Map<string, Instance>();
  readonly answered = new Set<string>();
  /** Settles when none of the ids asked for is missing. */
  readonly #complete = Promise.withResolvers<void>();
  /** Nodes that the answering ones have heard in the last day. */
  readonly #rosters = new Set<string>();

  constructor(exchange: Exchange, account: string, ids: readonly string[] | undefined, withinMs: number) {
    this.#exchange = exchange;
    this.#account = account;
    this.#ids = ids;
    this.#withinMs = withinMs;
  }

  /** Asks those not yet asked, and whom they know, until nobody new is named or all that is wanted is found. */
  async ask(names: Iterable<string>): Promise<void> {
    const fresh = [...new Set(names)].filter((name) => !this.#asked.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) this.#asked.add(name);
    // All that is wanted may be there while a frozen node still keeps its part of the answer.
    await Promise.race([Promise.all(fresh.map((name) => this.#askAll(name))), this.#complete.promise]);
    if (!this.#ids || this.missing().length > 0) await this.ask(this.#rosters);
  }

  /** Asks one node until it has told all. A node that falls silent in between has not answered. */
  async #askAll(name: string): Promise<void> {
    const body = { account: this.#account, ...(this.#ids ? { ids: [...this.#ids] } : {}) };
    for (let after: string | undefined; ; ) {
      const asked = await this.#exchange.ask(
        name,
        "instances",
        { ...body, ...(after ? { after } : {}) },
        this.#withinMs,
      );
      if (asked.outcome !== "answered") return;
      const { instances, roster, more } = asked.answer;
      for (const instance of instances) this.#instances.set(instance.id, instance);
      for (const known of roster) this.#rosters.add(known);
      if (this.#ids && this.missing().length === 0) this.#complete.resolve();
      after = instances.at(-1)?.id;
      if (!more || !after) break;
    }
    this.answered.add(name);
  }

  missing(): string[] {
    return (this.#ids ?? []).filter((id) => !this.#instances.has(id));
  }

  found(): Instance[] {
    return this.#ids
      ? this.#ids.map((id) => this.#instances.get(id)).filter((one) => one !== undefined)
      : [...this.#instances.values()];
  }

  /** A view with holes must not be taken for an answer. */
  refuseMissing(seen: readonly string[]): void {
    const missing = this.missing();
    if (missing.length === 0) return;
    const silent = [...new Set([...seen, ...this.#rosters])].filter((name) => !this.answered.has(name));
    if (silent.length > 0) {
      throw new Fault(
        "ServiceUnavailable",
        `Whether ${missing.join(", ")} exists cannot be said while ${silent.join(", ")} does not answer`,
      );
    }
    this.refuseSilence();
    throw new Fault(
      "UnknownInstance",
      missing.length === 1
        ? `The instance ID '${missing[0]}' does not exist`
        : `The instance IDs '${missing.join(", ")}' do not exist`,
    );
  }

  refuseSilence(): void {
    if (this.answered.size === 0 && this.#instances.size === 0) {
      throw new Fault("ServiceUnavailable", "No node daemon answers");
    }
  }
}

function wrongState(change: Change, wrong: readonly { id: string; state: InstanceState }[]): Fault {
  const [first] = wrong;
  const verb = { start: "started", stop: "stopped", reboot: "rebooted", terminate: "terminated" }[change];
  return new Fault(
    "IncorrectInstanceState",
    wrong.length === 1
      ? `The instance '${first?.id}' is not in a state from which it can be ${verb}: it is ${first?.state}`
      : `These instances are not in a state from which they can be ${verb}: ${wrong.map(({ id, state }) => `${id} (${state})`).join(", ")}`,
  );
}

function settled(
  change: Change,
  id: string,
  result: Answer<"change">["results"][number] | undefined,
): StateChange {
  switch (result?.outcome) {
    case "changed":
      return { id, previous: result.previous, current: result.current };
    case "wrong-state":
      throw wrongState(change, [result]);
    case "no-room":
      throw new Fault("InsufficientInstanceCapacity", `The node that holds ${id} has no room to start it`);
    case "absent":
    case undefined:
      throw new Fault("UnknownInstance", `The instance ID '${id}' does not exist`);
    default:
      return result satisfies never;
  }
}
