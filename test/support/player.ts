// A gateway played step by step over the real wire: each step of a launch is the test's to take, repeat or withhold.

import { ACCOUNT, IMAGE_ID } from "../../infra/local/account.ts";
import { type Attempt, instanceId } from "../../lib/attempt.ts";
import type { Exchange } from "../../lib/exchange.ts";
import { type PublishOutcome, publishLaunch } from "../../lib/launch/publish.ts";
import { LaunchRecords } from "../../lib/launch/record.ts";
import { keys } from "../../lib/table.ts";
import {
  type Answer,
  type Ask,
  type LaunchRef,
  launchSubject,
  namedLaunchSubject,
  type Seat,
  type Verb,
} from "../../lib/wire.ts";
import { type Cluster, request } from "./cluster.ts";

const ASK_MS = 3000;

export class Player {
  readonly token: string;
  readonly key: string;
  readonly cluster: Cluster;
  readonly exchange: Exchange;
  readonly records: LaunchRecords;
  reservation = "r-played00000000001";
  fence = 1;
  count = 1;
  type = "t3.micro";

  private constructor(cluster: Cluster, exchange: Exchange, token: string) {
    this.cluster = cluster;
    this.exchange = exchange;
    this.token = token;
    this.key = keys.launch(ACCOUNT, token);
    this.records = new LaunchRecords(cluster.gateway().table, cluster.windows.leaseMs);
  }

  static async sitDown(cluster: Cluster, token: string, count = 1): Promise<Player> {
    const player = new Player(cluster, await cluster.exchange(), token);
    player.count = count;
    player.reservation = `r-${token}`;
    return player;
  }

  /** Claims the record of the token, as a gateway does before it sends anything. */
  async claim(fingerprint: string) {
    const claimed = await this.records.claim(this.key, fingerprint);
    this.reservation = claimed.record.reservation;
    this.fence = claimed.record.fence;
    return claimed.record;
  }

  ref(n: number, fence = this.fence): LaunchRef {
    return { key: this.key, reservation: this.reservation, account: ACCOUNT, attempt: { fence, n } };
  }

  seats(attempt: Attempt, from = 0, count = this.count): Seat[] {
    return Array.from({ length: count }, (_, i) => ({
      id: instanceId(this.reservation, attempt, from + i),
      index: from + i,
    }));
  }

  get input(): Record<string, unknown> {
    return request(this.count, { type: this.type }).input;
  }

  async publish(
    n: number,
    options: { tried?: string[]; deadline?: number; subject?: string } = {},
  ): Promise<PublishOutcome> {
    const { outcome } = await publishLaunch(
      this.exchange,
      this.cluster.windows,
      {
        launch: this.ref(n),
        maxCount: this.count,
        input: this.input,
        tried: options.tried ?? [],
        deadline: options.deadline ?? Date.now() + this.cluster.windows.launchMs,
      },
      [options.subject ?? launchSubject()],
    );
    return outcome;
  }

  /** Hands the launch to one node by name. */
  async publishTo(node: string, n: number): Promise<PublishOutcome> {
    return this.publish(n, { subject: namedLaunchSubject(node) });
  }

  hold(node: string, n: number, count = this.count) {
    return this.holdWithin(node, n, ASK_MS, count);
  }

  holdWithin(node: string, n: number, withinMs: number, count = this.count) {
    const ask: Ask<"hold"> = {
      launch: this.ref(n),
      hold: this.holdName(node, n),
      type: this.type,
      imageId: IMAGE_ID,
      count,
      deadline: Date.now() + this.cluster.windows.launchMs,
    };
    return this.#ask(node, "hold", ask, withinMs);
  }

  commit(node: string, n: number, seats = this.seats(this.ref(n).attempt), deadline = Date.now() + 2000) {
    const ask = { launch: this.ref(n), hold: this.holdName(node, n), seats, input: this.input, deadline };
    return this.#ask(node, "commit", ask);
  }

  release(node: string, n: number) {
    return this.#ask(node, "release", { launch: this.ref(n), hold: this.holdName(node, n) });
  }

  gather(node: string, n: number) {
    return this.#ask(node, "gather", { launch: this.ref(n) });
  }

  holdName(node: string, n: number): string {
    return `${this.reservation}-${this.fence}.${n}-${node}`;
  }

  /** @returns the answer, or the word for why there is none: absent, silent, closed */
  async #ask<V extends Verb>(
    node: string,
    verb: V,
    body: Ask<V>,
    withinMs = ASK_MS,
  ): Promise<Answer<V> | { outcome: string }> {
    const asked = await this.exchange.ask(node, verb, body, withinMs);
    return asked.outcome === "answered" ? asked.answer : { outcome: asked.outcome };
  }
}
