// The roster: the nodes this one knows, by their heartbeats.
//
// 1. Whoever was heard lately is asked. A node found absent leaves until it is heard again; one that kept silent is
//    asked last, since each silence costs a launch a whole window.
// 2. Names are remembered for a day beyond that: what a node holds does not vanish with its daemon.

import { type Capacity, capacityOf, howMany } from "../capacity.ts";
import type { Beat } from "../wire.ts";

const REMEMBER_MS = 24 * 60 * 60_000;
/** Beats that may be missed before a node counts as gone. */
const MISSED_BEATS = 3;

interface Entry {
  free: Capacity;
  heardAt: number;
  live: boolean;
  silent: boolean;
}

export interface Peer {
  name: string;
  free: Capacity;
  silent: boolean;
}

export interface RosterOptions {
  self: string;
  beatMs: number;
  beatPerNodeMs: number;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  /** Time between two beats of one node, so that the fleet's traffic grows linearly with its size. */
  get intervalMs(): number {
    return Math.max(this.#options.beatMs, (this.#entries.size + 1) * this.#options.beatPerNodeMs);
  }

  hear(beat: Beat): void {
    if (beat.node === this.#options.self) return;
    const heardAt = this.#options.now();
    this.#entries.set(beat.node, { free: beat.free, heardAt, live: !beat.leaving, silent: false });
  }

  /** Nobody was subscribed under that name. */
  absent(name: string): void {
    const entry = this.#entries.get(name);
    if (entry) entry.live = false;
  }

  silent(name: string): void {
    const entry = this.#entries.get(name);
    if (entry) entry.silent = true;
  }

  /** Nodes worth asking. */
  peers(): Peer[] {
    const oldest = this.#options.now() - MISSED_BEATS * this.intervalMs;
    return [...this.#entries]
      .filter(([, entry]) => entry.live && entry.heardAt >= oldest)
      .map(([name, { free, silent }]) => ({ name, free, silent }));
  }

  /** All names of the last day, this node's own among them. */
  known(): string[] {
    const oldest = this.#options.now() - REMEMBER_MS;
    for (const [name, entry] of this.#entries) if (entry.heardAt < oldest) this.#entries.delete(name);
    return [this.#options.self, ...this.#entries.keys()];
  }
}

/**
 * The order in which peers are asked: those that should take the whole launch before those that can take a part,
 * the tightest first among the former (best fit), the roomiest first among the latter (fewest parts); silent ones last.
 */
export function askingOrder(
  peers: readonly Peer[],
  type: string,
  count: number,
): { name: string; whole: boolean }[] {
  const one = capacityOf(type);
  return peers
    .map(({ name, free, silent }) => ({ name, silent, room: one ? howMany(free, one) : 0 }))
    .sort((a, b) => {
      if (a.silent !== b.silent) return a.silent ? 1 : -1;
      const aWhole = a.room >= count;
      if (aWhole !== b.room >= count) return aWhole ? -1 : 1;
      return aWhole ? a.room - b.room : b.room - a.room;
    })
    .map(({ name, room }) => ({ name, whole: room >= count }));
}
