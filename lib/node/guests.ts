// Instances and their guests: starting, stopping, ending; the one writer of an instance's state.
//
// 1. A state is on disk before anyone is told of it, and before the driver acts on it.
// 2. Room follows the state: taken by whoever starts, given back when the guest has stopped or ended.
// 3. What was under way when the process died goes on at the next start.

import { setImmediate as answerSent, setTimeout as sleep } from "node:timers/promises";
import { type Change, type Instance, type InstanceState, MOVES, takesRoom } from "../instance.ts";
import type { Answer } from "../wire.ts";
import type { GuestDriver } from "./drivers/table.ts";
import type { InstanceStore } from "./instance-store.ts";
import type { Ledger } from "./ledger.ts";
import type { Log } from "./log.ts";

/** Terminated instances stay describable for an hour, as EC2's do: its InstanceTerminated waiter needs them. */
const TERMINATED_KEPT_MS = 60 * 60_000;

/** A disk that is full is seldom empty sooner. */
const SETTLE_AGAIN_MS = 2000;

type Outcome = Pick<Instance, "state" | "stateReason">;

type ChangeResult = Answer<"change">["results"][number];

export interface GuestsOptions {
  store: InstanceStore;
  ledger: Ledger;
  driver: GuestDriver;
  log: Log;
  /** Called whenever room was taken or given back. */
  roomChanged: () => void;
}

export class Guests {
  readonly #options: GuestsOptions;
  /** Bumped by every change of an instance, so that the end of an overtaken one is not taken for news. */
  readonly #turns = new Map<string, number>();

  constructor(options: GuestsOptions) {
    this.#options = options;
    for (const instance of options.store.all())
      if (takesRoom(instance.state)) options.ledger.count(instance.type);
  }

  /** Takes up what an earlier process left under way. */
  resume(): void {
    for (const instance of this.#options.store.all()) {
      if (instance.state === "pending") this.#run(instance, "start", "running");
      else if (instance.state === "stopping") this.#run(instance, "stop", "stopped");
      else if (instance.state === "shutting-down") this.#run(instance, "end", "terminated");
    }
  }

  /** Stores new instances, whose room is taken already, and boots them. On disk when this returns. */
  launch(instances: readonly Instance[]): void {
    try {
      this.#options.store.put(instances);
    } catch (error) {
      for (const { id, type } of instances) {
        this.#options.store.remove(id);
        this.#options.ledger.give(type);
      }
      throw error;
    }
    this.#options.roomChanged();
    for (const instance of instances) this.#run(instance, "start", "running");
  }

  /** Ends instances that nobody was told about, and forgets them. */
  undo(instances: readonly Instance[]): void {
    for (const instance of instances) {
      // Nothing that is still under way for it may settle any more.
      this.#turns.delete(instance.id);
      this.#options.store.remove(instance.id);
      if (takesRoom(instance.state)) this.#options.ledger.give(instance.type);
      this.#options.driver
        .end(instance)
        .catch((error) => this.#options.log.error("undo", error, { id: instance.id }));
    }
    this.#options.roomChanged();
  }

  change(account: string, change: Change, id: string): ChangeResult {
    const instance = this.#options.store.get(id);
    if (!instance || instance.account !== account) return { outcome: "absent", id };
    const move = MOVES[change][instance.state];
    if (move === "wrong-state") return { outcome: "wrong-state", id, state: instance.state };
    if (move === "no-op")
      return { outcome: "changed", id, previous: instance.state, current: instance.state };
    if (change === "start" && !this.#options.ledger.take(instance.type, 1)) return { outcome: "no-room", id };
    let current: InstanceState;
    try {
      current = this.#move(instance, move.to, change);
    } catch (error) {
      if (change === "start") this.#options.ledger.give(instance.type);
      throw error;
    }
    return { outcome: "changed", id, previous: instance.state, current };
  }

  /** Drops what was terminated long enough ago. */
  purge(): void {
    const oldest = Date.now() - TERMINATED_KEPT_MS;
    for (const instance of this.#options.store.all()) {
      if (instance.state !== "terminated" || (instance.changedAt ?? 0) >= oldest) continue;
      this.#options.store.remove(instance.id);
      this.#turns.delete(instance.id);
    }
  }

  #move(instance: Instance, to: InstanceState, change: Change): InstanceState {
    const { store, driver, log } = this.#options;
    if (change === "reboot") {
      driver.reboot(instance).catch((error) => log.error("reboot", error, { id: instance.id }));
      return to;
    }
    const moved: Instance = { ...instance, state: to, changedAt: Date.now(), ...reasonOf(change) };
    store.put([moved]);
    if (to === "pending") this.#run(moved, "start", "running");
    else if (to === "stopping") this.#run(moved, "stop", "stopped");
    else if (to === "shutting-down") this.#run(moved, "end", "terminated");
    else driver.end(moved).catch((error) => log.error("end", error, { id: instance.id }));
    this.#options.roomChanged();
    return to;
  }

  /** Lets the driver act and stores where that led, unless another change has come in between. */
  #run(instance: Instance, act: "start" | "stop" | "end", then: InstanceState): void {
    const { driver, log } = this.#options;
    const turn = this.#turn(instance.id);
    driver[act](instance)
      .then(
        (): Outcome => ({ state: then }),
        (error): Outcome => {
          log.error(`guest ${act}`, error, { id: instance.id });
          const stateReason = { code: "Server.InternalError", message: `The guest failed to ${act}` };
          return { state: then === "terminated" ? "terminated" : "stopped", stateReason };
        },
      )
      // Not before the answer in hand has left: writing this down is nothing its caller should wait for.
      .then(async (outcome) => {
        await answerSent();
        await this.#settleSurely(instance.id, turn, outcome);
      });
  }

  /** Tries again while it cannot be written: an instance that stayed `stopping` would keep its room. */
  async #settleSurely(id: string, turn: number, outcome: Outcome): Promise<void> {
    for (;;) {
      try {
        return this.#settle(id, turn, outcome);
      } catch (error) {
        this.#options.log.error("an outcome cannot be stored, will keep trying", error, { id });
        await sleep(SETTLE_AGAIN_MS);
      }
    }
  }

  #settle(id: string, turn: number, outcome: Outcome): void {
    const instance = this.#options.store.get(id);
    if (!instance || this.#turns.get(id) !== turn) return;
    this.#options.store.put([{ ...instance, ...outcome, changedAt: Date.now() }]);
    if (takesRoom(instance.state) && !takesRoom(outcome.state)) {
      this.#options.ledger.give(instance.type);
      this.#options.roomChanged();
    }
  }

  #turn(id: string): number {
    const turn = (this.#turns.get(id) ?? 0) + 1;
    this.#turns.set(id, turn);
    return turn;
  }
}

/** EC2's `reason` and `stateReason` for what a user asked for. */
function reasonOf(change: Change): Partial<Instance> {
  if (change === "start") return { transition: "", stateReason: undefined };
  const at = new Date().toISOString().slice(0, 19).replace("T", " ");
  return {
    transition: `User initiated (${at} GMT)`,
    stateReason: {
      code: "Client.UserInitiatedShutdown",
      message: "Client.UserInitiatedShutdown: User initiated shutdown",
    },
  };
}
