// The ledger: how much room this node has, and who holds it.
//
// 1. Check and take are one synchronous step: nothing can come between them.
// 2. Room is `total - taken - held`. What is taken belongs to instances; a hold is set aside for one launch and lapses
//    on the monotonic clock, so that neither a dead gateway nor a clock set back keeps it.
// 3. A release that overtakes its hold leaves a tombstone; the hold that comes after it is refused.
// 4. What fits is decided by `howMany` alone, and the same number is advertised. Advertising ignores holds: one
//    launch that fails must not hide the room from the others.

import { type Attempt, compareAttempts } from "../attempt.ts";
import { type Capacity, capacityOf, howMany, minus, NO_CAPACITY, plus, times } from "../capacity.ts";

interface Hold {
  reservation: string;
  attempt: Attempt;
  type: string;
  count: number;
  lapsesAt: number;
}

export interface LedgerOptions {
  total: Capacity;
  holdMs: number;
  rememberMs: number;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

export type HoldOutcome =
  | { outcome: "held"; count: number; busy?: boolean }
  | { outcome: "busy" | "full" | "released" };

export class Ledger {
  readonly #options: LedgerOptions;
  #taken: Capacity = NO_CAPACITY;
  readonly #holds = new Map<string, Hold>();
  readonly #tombstones = new Map<string, number>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get total(): Capacity {
    return this.#options.total;
  }

  /** What is advertised: room without regard to holds. */
  get free(): Capacity {
    return minus(this.#options.total, this.#taken);
  }

  /** Instances that holds stand for at this moment. */
  get held(): number {
    this.#lapse();
    return [...this.#holds.values()].reduce((sum, hold) => sum + hold.count, 0);
  }

  /** How many of `type` fit now, holds respected. */
  room(type: string): number {
    return fitting(minus(this.free, this.#heldCapacity()), type);
  }

  /** How many of `type` would fit were nothing held. */
  roomBesideHolds(type: string): number {
    return fitting(this.free, type);
  }

  /** How many of `type` an empty node takes. */
  roomWhenEmpty(type: string): number {
    return fitting(this.#options.total, type);
  }

  /** Sets up to `count` aside. `full` is a lasting no; `busy` may change as soon as other launches are decided. */
  hold(id: string, reservation: string, attempt: Attempt, type: string, count: number): HoldOutcome {
    this.#lapse();
    if (this.#tombstones.has(id)) return { outcome: "released" };
    const standing = this.#holds.get(id);
    if (standing) return { outcome: "held", count: standing.count };
    const held = Math.min(count, this.room(type));
    if (held === 0) return { outcome: this.roomBesideHolds(type) > 0 ? "busy" : "full" };
    const lapsesAt = this.#options.now() + this.#options.holdMs;
    this.#holds.set(id, { reservation, attempt, type, count: held, lapsesAt });
    const busy = held < Math.min(count, this.roomBesideHolds(type));
    return { outcome: "held", count: held, ...(busy ? { busy } : {}) };
  }

  release(id: string): void {
    if (!this.#holds.delete(id)) this.#tombstones.set(id, this.#options.now() + this.#options.rememberMs);
  }

  /** Drops what older attempts of a launch still hold. */
  dropOlder(reservation: string, attempt: Attempt): void {
    for (const [id, hold] of this.#holds) {
      if (hold.reservation === reservation && compareAttempts(hold.attempt, attempt) < 0)
        this.#holds.delete(id);
    }
  }

  /** Takes room for `count` at once, without a hold. @returns false and takes nothing when they do not all fit */
  take(type: string, count: number): boolean {
    if (this.room(type) < count) return false;
    this.#taken = plus(this.#taken, times(one(type), count));
    return true;
  }

  /** Turns a hold into taken room; what it held beyond `count` is free again. @returns false when it has lapsed */
  takeHeld(id: string, reservation: string, type: string, count: number): boolean {
    this.#lapse();
    const hold = this.#holds.get(id);
    if (!hold || hold.count < count || hold.reservation !== reservation || hold.type !== type) return false;
    this.#holds.delete(id);
    this.#taken = plus(this.#taken, times(one(hold.type), count));
    return true;
  }

  /** Counts an instance that is there already, as at a restart, whether or not it fits. */
  count(type: string): void {
    this.#taken = plus(this.#taken, one(type));
  }

  give(type: string): void {
    this.#taken = minus(this.#taken, one(type));
  }

  #heldCapacity(): Capacity {
    this.#lapse();
    let sum = NO_CAPACITY;
    for (const hold of this.#holds.values()) sum = plus(sum, times(one(hold.type), hold.count));
    return sum;
  }

  #lapse(): void {
    const now = this.#options.now();
    for (const [id, hold] of this.#holds) if (hold.lapsesAt <= now) this.#holds.delete(id);
    for (const [id, until] of this.#tombstones) if (until <= now) this.#tombstones.delete(id);
  }
}

/** A type that is not on offer fits nowhere. */
function fitting(free: Capacity, type: string): number {
  const wanted = capacityOf(type);
  return wanted ? howMany(free, wanted) : 0;
}

/** A type that has left the table since an instance was made takes no room that could be counted. */
const one = (type: string): Capacity => capacityOf(type) ?? NO_CAPACITY;
