// The heart: this node's beats, and hearing the others'.
//
// 1. A beat every `roster.intervalMs`, and at once on joining, on leaving, and when room appears where there was none;
//    asking by name finds the dead, so beats may be slow.
// 2. A beat with a reply inbox asks for the hearers' own beats: that is how a daemon that has just connected learns
//    the fleet before it takes launches.

import { setTimeout as sleep } from "node:timers/promises";
import type { Exchange, Incoming } from "../exchange.ts";
import { type Beat, beatSchema, beatSubject, WIRE_VERSION } from "../wire.ts";
import type { Ledger } from "./ledger.ts";
import type { Roster } from "./roster.ts";

export interface HeartOptions {
  node: string;
  exchange: Exchange;
  ledger: Ledger;
  roster: Roster;
  expectedNodes: number | undefined;
  hearMs: number;
  failed: (error: unknown) => void;
}

export class Heart {
  readonly #options: HeartOptions;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #hadRoom = true;

  constructor(options: HeartOptions) {
    this.#options = options;
    options.exchange.serve(beatSubject("*"), undefined, (incoming) => this.#hear(incoming), options.failed);
  }

  /** Asks who is there. Resolves when all expected nodes have answered, or `hearMs` later. */
  async greet(): Promise<void> {
    const { exchange, node, roster, expectedNodes, hearMs } = this.#options;
    let enough = () => {};
    const all = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const heard = new Set([node]);
    const complete = () => expectedNodes !== undefined && heard.size >= expectedNodes;
    const close = exchange.open(beatSubject(node), this.#beat(), undefined, (reply) => {
      if (reply.kind !== "message") return;
      const beat = beatSchema.safeParse(reply.body);
      if (!beat.success) return;
      roster.hear(beat.data);
      heard.add(beat.data.node);
      if (complete()) enough();
    });
    await Promise.race([all, sleep(hearMs)]);
    close();
    this.#schedule();
  }

  /** Room was taken or given back. Only "there is some again" is news that cannot wait. */
  roomChanged(): void {
    const { free } = this.#options.ledger;
    const hasRoom = free.vcpu > 0 && free.memMiB > 0;
    // After what else this turn changes: several guests that end together are one piece of news.
    if (hasRoom && !this.#hadRoom) setImmediate(() => !this.#stopped && this.#send(this.#beat()));
    this.#hadRoom = hasRoom;
  }

  /** Says goodbye and beats no more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#send({ ...this.#beat(), leaving: true });
  }

  #beat(): Beat {
    const { node, ledger } = this.#options;
    return { v: WIRE_VERSION, node, free: ledger.free, total: ledger.total };
  }

  #send(beat: Beat): void {
    this.#options.exchange.tell(beatSubject(this.#options.node), beat);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#send(this.#beat());
      this.#schedule();
    }, this.#options.roster.intervalMs);
  }

  #hear(incoming: Incoming): void {
    const beat = beatSchema.safeParse(incoming.body);
    if (!beat.success || beat.data.node === this.#options.node) return;
    if (incoming.subject !== beatSubject(beat.data.node)) return;
    this.#options.roster.hear(beat.data);
    if (incoming.wantsReply) incoming.reply(this.#beat());
  }
}
