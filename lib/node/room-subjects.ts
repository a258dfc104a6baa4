// Which launch subjects this node is subscribed to.
//
// 1. The plain subject always, once the fleet has been heard; a typed subject only while one more of that type fits.
// 2. A subscription is left with `drain()`: unsubscribing drops what is on its way (980 of 980 in a measured burst).
//    What still arrives finds the room gone and is coordinated.

import { INSTANCE_TYPES } from "../capacity.ts";
import type { Exchange, Incoming, Served } from "../exchange.ts";
import { launchSubject, QUEUE_GROUP, roomSubject } from "../wire.ts";

export interface RoomSubjectsOptions {
  node: string;
  exchange: Exchange;
  fits: (type: string) => boolean;
  launch: (incoming: Incoming) => unknown;
  failed: (error: unknown) => void;
}

export class RoomSubjects {
  readonly #options: RoomSubjectsOptions;
  #plain: Served | undefined;
  readonly #typed = new Map<string, Served[]>();

  constructor(options: RoomSubjectsOptions) {
    this.#options = options;
  }

  get types(): string[] {
    return [...this.#typed.keys()];
  }

  /** Joins the queue group. */
  join(): void {
    const { exchange, launch, failed } = this.#options;
    this.#plain ??= exchange.serve(launchSubject(), QUEUE_GROUP, launch, failed);
    this.refresh();
  }

  /** Follows the room. To be called whenever some was taken or given back. */
  refresh(): void {
    if (!this.#plain) return;
    for (const type of Object.keys(INSTANCE_TYPES)) {
      const subscribed = this.#typed.get(type);
      const fits = this.#options.fits(type);
      if (fits && !subscribed) this.#typed.set(type, this.#subscribe(type));
      if (!fits && subscribed) {
        this.#typed.delete(type);
        for (const subscription of subscribed) subscription.drain().catch(this.#options.failed);
      }
    }
  }

  /** The connection went, and the server's side of the subscriptions with it: nothing is on its way that could drop. */
  lost(): void {
    for (const subscription of this.#all()) subscription.unsubscribe();
    this.#forget();
  }

  /** Leaves all of them; what was on its way is still delivered before this resolves. */
  async leave(): Promise<void> {
    const all = this.#all();
    this.#forget();
    await Promise.all(all.map((subscription) => subscription.drain()));
  }

  #all(): Served[] {
    return [...(this.#plain ? [this.#plain] : []), ...[...this.#typed.values()].flat()];
  }

  #forget(): void {
    this.#plain = undefined;
    this.#typed.clear();
  }

  #subscribe(type: string): Served[] {
    const { exchange, node, launch, failed } = this.#options;
    return [
      exchange.serve(launchSubject(type), QUEUE_GROUP, launch, failed),
      exchange.serve(roomSubject(type, "*"), QUEUE_GROUP, (incoming) => incoming.reply({ node }), failed),
    ];
  }
}
