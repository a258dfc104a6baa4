// Finding room for a launch: the coordinator's work.
//
// 1. Each node is asked at most once in a round, by name, and whoever is named as tried is not asked at all; so a
//    round sends at most N-1 asks, and nobody passes on what was passed on.
// 2. Nothing is committed here. The outcome is a plan of holds, or a refusal with all holds given back.
// 3. `busy` (the room is taken by holds alone) starts another round after a random pause; `full` never does.
// 4. An ask that timed out may have held all the same: it is followed by a release.
// 5. Before a refusal, the typed subject is asked once who still has room: a node that freed some in the meantime, or
//    that this one has never heard of, is asked too.

import { setTimeout as sleep } from "node:timers/promises";
import type { Attempt } from "../attempt.ts";
import type { Asked } from "../exchange.ts";
import type { Answer, Ask, LaunchRef, Never, Seat } from "../wire.ts";
import { askingOrder, type Peer } from "./roster.ts";

export interface RoomWanted {
  launch: LaunchRef;
  type: string;
  imageId: string;
  minCount: number;
  maxCount: number;
  seats: readonly Seat[];
  tried: readonly string[];
  /** Epoch milliseconds. */
  deadline: number;
}

/** What the coordinator needs of its node. */
export interface RoomSources {
  self: string;
  peers: () => Peer[];
  /** The same question a peer is asked, put to this node itself. */
  holdHere: (ask: Ask<"hold">, tried: readonly string[]) => Answer<"hold">;
  ask: (node: string, ask: Ask<"hold">, tried: readonly string[]) => Promise<Asked<Answer<"hold">>>;
  release: (node: string, launch: LaunchRef, hold: string) => Promise<void>;
  /** A node that says it has room for one of `type`, or undefined. */
  whoHasRoom: (type: string) => Promise<string | undefined>;
  pauseMs: () => number;
  mintHold: (node: string) => string;
}

interface Part {
  node: string;
  hold: string;
  count: number;
}

export type Room =
  | { outcome: "plan"; parts: { node: string; hold: string; seats: Seat[] }[] }
  | { outcome: "refused"; why: "capacity" | Never; answered: string[]; unanswered: string[] }
  | { outcome: "superseded"; by: Attempt }
  | { outcome: "late" };

export async function findRoom(wanted: RoomWanted, sources: RoomSources): Promise<Room> {
  for (;;) {
    const round = new Round(wanted, sources);
    const room = await round.run();
    if (room !== "busy") return room;
    const pauseMs = sources.pauseMs();
    if (Date.now() + pauseMs >= wanted.deadline) return { outcome: "late" };
    await sleep(pauseMs);
  }
}

class Round {
  readonly #wanted: RoomWanted;
  readonly #sources: RoomSources;
  readonly #asked: Set<string>;
  #parts: Part[] = [];
  #whole = false;
  #busy = false;
  #full = false;
  readonly #never: Never[] = [];
  readonly #answered: string[] = [];
  readonly #unanswered: string[] = [];

  constructor(wanted: RoomWanted, sources: RoomSources) {
    this.#wanted = wanted;
    this.#sources = sources;
    this.#asked = new Set(wanted.tried);
  }

  get #got(): number {
    return this.#parts.reduce((sum, part) => sum + part.count, 0);
  }

  get #missing(): number {
    return this.#wanted.maxCount - this.#got;
  }

  async run(): Promise<Room | "busy"> {
    const { self, peers } = this.#sources;
    let over = this.#asked.has(self) ? undefined : this.#take(self, this.#askHere());
    for (const { name, whole } of askingOrder(peers(), this.#wanted.type, this.#wanted.maxCount)) {
      // A split that suffices does not end the search while a node may still take the whole.
      if (over || this.#whole || (this.#missing <= 0 && !whole)) break;
      if (!this.#asked.has(name)) over = await this.#askPeer(name, whole);
    }
    while (!over && this.#got < this.#wanted.minCount) {
      const name = await this.#sources.whoHasRoom(this.#wanted.type);
      if (!name || this.#asked.has(name)) break;
      over = await this.#askPeer(name, true);
    }
    if (!over && this.#got >= this.#wanted.minCount) return { outcome: "plan", parts: this.#seated() };
    await this.#releaseAll();
    if (over) return over;
    return this.#busy ? "busy" : this.#refusal();
  }

  #askHere(): { hold: string; answer: Answer<"hold"> } {
    const ask = this.#askFor(this.#sources.self, this.#wanted.maxCount);
    return { hold: ask.hold, answer: this.#sources.holdHere(ask, this.#wanted.tried) };
  }

  #askFor(node: string, count: number): Ask<"hold"> {
    const { launch, type, imageId, deadline } = this.#wanted;
    return { launch, hold: this.#sources.mintHold(node), type, imageId, count, deadline };
  }

  /** @returns how the round ends at once, if it does */
  async #askPeer(name: string, whole: boolean): Promise<Room | undefined> {
    const ask = this.#askFor(name, whole ? this.#wanted.maxCount : this.#missing);
    const asked = await this.#sources.ask(name, ask, [...this.#asked]);
    if (asked.outcome === "answered") return this.#take(name, { hold: ask.hold, answer: asked.answer });
    this.#asked.add(name);
    this.#unanswered.push(name);
    if (asked.outcome === "silent") void this.#sources.release(name, ask.launch, ask.hold);
    return undefined;
  }

  #take(name: string, { hold, answer }: { hold: string; answer: Answer<"hold"> }): Room | undefined {
    this.#asked.add(name);
    this.#answered.push(name);
    switch (answer.outcome) {
      case "held":
        if (answer.busy) this.#busy = true;
        this.#keep({ node: name, hold, count: answer.count });
        return undefined;
      case "busy":
        this.#busy = true;
        return undefined;
      case "full":
        this.#full = true;
        return undefined;
      case "never":
        this.#never.push(answer.why);
        return undefined;
      case "tried":
        return undefined;
      case "late":
        return { outcome: "late" };
      case "superseded":
        return { outcome: "superseded", by: answer.by };
      default:
        return answer satisfies never;
    }
  }

  /** A node that holds the whole makes the parts needless: they go back. */
  #keep(part: Part): void {
    if (part.count >= this.#wanted.maxCount) {
      this.#whole = true;
      void this.#releaseAll();
      this.#parts = [part];
    } else if (this.#missing > 0) {
      this.#parts.push({ ...part, count: Math.min(part.count, this.#missing) });
    } else {
      void this.#sources.release(part.node, this.#wanted.launch, part.hold);
    }
  }

  /** Gives the seats out in order; what a part holds beyond its seats lapses or is freed by its commit. */
  #seated(): { node: string; hold: string; seats: Seat[] }[] {
    let next = 0;
    return this.#parts.map(({ node, hold, count }) => {
      const seats = this.#wanted.seats.slice(next, next + count);
      next += count;
      return { node, hold, seats };
    });
  }

  async #releaseAll(): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    await Promise.all(parts.map(({ node, hold }) => this.#sources.release(node, this.#wanted.launch, hold)));
  }

  #refusal(): Room {
    const lasting = !this.#full && this.#never.length > 0;
    const why = !lasting ? "capacity" : this.#never.includes("size") ? "size" : "image";
    return { outcome: "refused", why, answered: this.#answered, unanswered: this.#unanswered };
  }
}
