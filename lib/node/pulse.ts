// The pulse tells whether this process has just been standing still: frozen, swapped out, or its machine asleep.
//
// What arrives right after that may be old, and news that closes it may lie further back in the same socket. So
// whatever would start something first lets the socket run dry (a flush is answered behind everything queued), while
// what closes attempts is handled at once. This needs no clock that two hosts agree on.

import { performance } from "node:perf_hooks";

const TICK_MS = 50;
/** Longer than a busy machine keeps a healthy process waiting, shorter than any gateway's patience. */
const STALL_MS = 200;

export class Pulse {
  #tickedAt = performance.now();
  #stalledAt = Number.NEGATIVE_INFINITY;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#look(), TICK_MS);
    this.#timer.unref();
  }

  /** Whether the process stood still a moment ago. */
  get stalled(): boolean {
    this.#look();
    return performance.now() - this.#stalledAt < STALL_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#tickedAt > STALL_MS) this.#stalledAt = now;
    this.#tickedAt = now;
  }
}
