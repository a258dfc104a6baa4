// The launch desk: what a node does with each verb of a launch.
//
// 1. Deadline and attempt are looked at when a message comes and again in the step that starts something; between the
//    two the process may have been frozen, or a newer attempt may have passed.
// 2. Checking, taking the room, and writing the instances is one synchronous step.
// 3. An acknowledgement leaves before the room is taken: a gateway that has heard nothing of an attempt may rely on
//    nothing having been started for it once its deadline has passed.
// 4. Repeating a message changes nothing: ids that exist are answered as they are.

import { setImmediate as yieldToSocket } from "node:timers/promises";
import type { Incoming } from "../exchange.ts";
import { type Instance, isLive, placedOf } from "../instance.ts";
import { instanceOf, type LaunchInput, launchInputSchema, seedError } from "../seed.ts";
import type { Windows } from "../windows.ts";
import {
  type Answer,
  type Ask,
  HEADERS,
  type LaunchAnswer,
  type LaunchRef,
  type Never,
  type Seat,
} from "../wire.ts";
import type { AttemptMemory } from "./attempt-memory.ts";
import type { GuestDriver } from "./drivers/table.ts";
import { findRoom, type Room, type RoomSources } from "./find-room.ts";
import type { Guests } from "./guests.ts";
import type { InstanceStore } from "./instance-store.ts";
import { type LaunchCall, parseLaunchCall } from "./launch-call.ts";
import type { Ledger } from "./ledger.ts";
import { type PlainSources, servePlain } from "./plain-launch.ts";

export interface LaunchDeskOptions {
  node: string;
  windows: Windows;
  ledger: Ledger;
  memory: AttemptMemory;
  store: InstanceStore;
  guests: Guests;
  driver: GuestDriver;
  /** How to reach the others; `holdHere` is this desk's own. */
  sources: Omit<RoomSources, "holdHere" | "self">;
  commit: (node: string, ask: Ask<"commit">) => Promise<Answer<"commit"> | undefined>;
  undo: (node: string, ask: Ask<"undo">) => Promise<void>;
}

export class LaunchDesk {
  readonly #options: LaunchDeskOptions;

  constructor(options: LaunchDeskOptions) {
    this.#options = options;
  }

  /** The launch subjects: this node coordinates. */
  async launch(incoming: Incoming): Promise<void> {
    const parsed = parseLaunchCall(incoming, this.#options.windows.launchMs);
    if ("problem" in parsed) {
      const { problem, ours, code } = parsed;
      const node = this.#options.node;
      incoming.reply(
        ours
          ? ({
              outcome: "invalid",
              node,
              code: code ?? "InvalidParameterValue",
              message: problem,
            } satisfies LaunchAnswer)
          : seedError(code ?? "ValidationError", problem),
      );
      return;
    }
    const { call } = parsed;
    const stopAcks = call.wantsAck ? this.#acknowledge(incoming) : () => {};
    try {
      if (call.ours) incoming.reply(await this.#coordinate(call));
      else incoming.reply(await servePlain(call, this.#plainSources()));
    } finally {
      stopAcks();
    }
  }

  /** Sends the first acknowledgement at once and repeats it while the work goes on. */
  #acknowledge(incoming: Incoming): () => void {
    const send = () => incoming.reply({}, { [HEADERS.ack]: this.#options.node });
    send();
    const timer = setInterval(send, this.#options.windows.ackAgainMs);
    return () => clearInterval(timer);
  }

  #plainSources(): PlainSources {
    const { node: self, commit, undo } = this.#options;
    return {
      coordinate: (call) => this.#coordinate(call),
      commit: async (node, ask) => (node === self ? this.commit(ask) : commit(node, ask)),
      undo: async (node, ask) => {
        if (node === self) this.undo(ask);
        else await undo(node, ask);
      },
    };
  }

  async #coordinate(call: LaunchCall): Promise<LaunchAnswer> {
    const started = await this.#startHere(call);
    if (started) return started;
    const room = await this.#findRoom(call);
    return room.outcome === "superseded" || room.outcome === "late"
      ? room
      : { ...room, node: this.#options.node };
  }

  /** The short way: all of MaxCount fits here. @returns undefined when it does not */
  async #startHere(call: LaunchCall): Promise<LaunchAnswer | undefined> {
    const first = this.#closed(call.launch, call.deadline);
    if (first) return first;
    const standing = this.#standing(call.seats);
    if (standing) return { outcome: "started", node: this.#options.node, instances: standing.map(placedOf) };
    const { InstanceType: type, MaxCount: count, ImageId } = call.input;
    const fits = () => this.#options.ledger.room(type) >= count;
    const tried = call.tried.includes(this.#options.node);
    if (tried || !this.#options.driver.hasImage(ImageId) || !fits()) return undefined;
    // Rule 3: the acknowledgement is in the kernel's hands before anything is started.
    if (call.wantsAck) await yieldToSocket();
    const again = this.#closed(call.launch, call.deadline);
    if (again) return again;
    const twin = this.#standing(call.seats);
    if (!twin && !this.#options.ledger.take(type, count)) return undefined;
    const instances = twin ?? this.#start(call.launch, call.input, call.seats);
    return { outcome: "started", node: this.#options.node, instances: instances.map(placedOf) };
  }

  #findRoom(call: LaunchCall): Promise<Room> {
    const { node: self, sources } = this.#options;
    const { input, launch, seats, tried, deadline } = call;
    return findRoom(
      {
        launch,
        seats,
        tried,
        deadline,
        type: input.InstanceType,
        imageId: input.ImageId,
        minCount: input.MinCount,
        maxCount: input.MaxCount,
      },
      {
        ...sources,
        self,
        holdHere: (ask, named) => this.hold(ask, named),
        release: async (node, ref, hold) => {
          if (node === self) this.release({ launch: ref, hold });
          else await sources.release(node, ref, hold);
        },
      },
    );
  }

  hold(ask: Ask<"hold">, tried: readonly string[]): Answer<"hold"> {
    const closed = this.#closed(ask.launch, ask.deadline);
    if (closed) return closed;
    const { ledger, node, driver } = this.#options;
    if (tried.includes(node)) return { outcome: "tried" };
    const never: Never | undefined =
      ledger.roomWhenEmpty(ask.type) === 0 ? "size" : driver.hasImage(ask.imageId) ? undefined : "image";
    if (never) return { outcome: "never", why: never };
    const held = ledger.hold(ask.hold, ask.launch.reservation, ask.launch.attempt, ask.type, ask.count);
    // The release of this hold came first: whoever asked has given up on it.
    return held.outcome === "released" ? { outcome: "late" } : (held as Answer<"hold">);
  }

  release(ask: Ask<"release">): Answer<"release"> {
    this.#options.ledger.release(ask.hold);
    return { outcome: "released" };
  }

  commit(ask: Ask<"commit">): Answer<"commit"> {
    const closed = this.#closed(ask.launch, ask.deadline);
    if (closed) return closed;
    const standing = this.#standing(ask.seats);
    if (standing) return { outcome: "started", instances: standing.map(placedOf) };
    const input = launchInputSchema.safeParse(ask.input);
    if (!input.success) return { outcome: "lapsed" };
    const { reservation } = ask.launch;
    const { InstanceType: type } = input.data;
    if (!this.#options.ledger.takeHeld(ask.hold, reservation, type, ask.seats.length))
      return { outcome: "lapsed" };
    return { outcome: "started", instances: this.#start(ask.launch, input.data, ask.seats).map(placedOf) };
  }

  gather(ask: Ask<"gather">): Answer<"gather"> {
    const by = this.#see(ask.launch);
    if (by) return { outcome: "superseded", by };
    const { reservation } = ask.launch;
    const instances = this.#options.store
      .all()
      .filter((one) => one.reservation === reservation && isLive(one.state));
    return { outcome: "found", instances: instances.map(placedOf) };
  }

  undo(ask: Ask<"undo">): Answer<"undo"> {
    const by = this.#see(ask.launch);
    if (by) return { outcome: "superseded", by };
    const { store, guests } = this.#options;
    const mine = [...new Set(ask.ids)]
      .map((id) => store.get(id))
      .filter((one) => one?.reservation === ask.launch.reservation);
    guests.undo(mine.filter((one) => one !== undefined));
    return { outcome: "undone" };
  }

  /** Why nothing may be started for this attempt any more, if so. */
  #closed(launch: LaunchRef, deadline: number) {
    const by = this.#see(launch);
    if (by) return { outcome: "superseded", by } as const;
    return Date.now() >= deadline ? ({ outcome: "late" } as const) : undefined;
  }

  #see(launch: LaunchRef) {
    const by = this.#options.memory.see(launch.reservation, launch.attempt);
    if (!by) this.#options.ledger.dropOlder(launch.reservation, launch.attempt);
    return by;
  }

  /** The instances of these seats when they exist already: the message is a repeat. */
  #standing(seats: readonly Seat[]): Instance[] | undefined {
    const standing = seats.map(({ id }) => this.#options.store.get(id));
    return standing.every((one) => one !== undefined) ? standing : undefined;
  }

  /** Room for these is taken. They are on disk when this returns. */
  #start(launch: LaunchRef, input: LaunchInput, seats: readonly Seat[]): Instance[] {
    const launchedAt = Date.now();
    const { node } = this.#options;
    const { attempt } = launch;
    const instances = seats.map((seat) =>
      instanceOf(launch, input, { ...seat, node, attempt, state: "pending", launchedAt }),
    );
    this.#options.guests.launch(instances);
    return instances;
  }
}
