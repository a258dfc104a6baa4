// The launch record: one item per launch, claimed before anything is sent and decided by one conditional write.
//
//   launching --decide--> done       lists the ids; that write is the single decision point
//   launching --fail----> failed     frees the token, keeps the fence
//   launching (lease over) --take over--> launching, fence + 1, same reservation
//   failed --claim--> launching, fence + 1, new reservation
//
// 1. `fence` and `holder` guard every write, so an owner that was frozen cannot decide after its successor.
// 2. The holder is minted per claim: whoever finds it in a refusal has won with a write whose answer was lost.
// 3. No TTL while a launch is in flight; the fence is seeded with the clock, so it rises even past a deleted item.

import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { mintReservationId } from "../attempt.ts";
import { FAULTS, Fault, type FaultCode } from "../fault.ts";
import type { Item, Table } from "../table.ts";

/** How long a decided launch is remembered: a token keeps its meaning for a month, a failure for a day. */
const DONE_KEPT_SECONDS = 30 * 24 * 60 * 60;
const FAILED_KEPT_SECONDS = 24 * 60 * 60;

const recordSchema = z.object({
  pk: z.string(),
  phase: z.enum(["launching", "done", "failed"]),
  fence: z.int(),
  holder: z.string(),
  reservation: z.string(),
  fingerprint: z.string(),
  /** Epoch milliseconds. */
  leaseUntil: z.number(),
  ids: z.optional(z.array(z.string())),
  /** Where each of `ids` is, in the same order. */
  nodes: z.optional(z.array(z.string())),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
  /** Nodes that may have started something and have not said so: left by an owner that gave up in order. */
  suspects: z.optional(z.array(z.string())),
});
export type LaunchRecord = z.infer<typeof recordSchema>;

export type Claimed = { outcome: "led"; record: LaunchRecord } | { outcome: "joined"; record: LaunchRecord };

/** Repeats of a claim that was refused by an item that was gone a moment later. */
const CLAIM_TRIES = 3;

export class LaunchRecords {
  readonly #table: Table;
  readonly #leaseMs: number;

  constructor(table: Table, leaseMs: number) {
    this.#table = table;
    this.#leaseMs = leaseMs;
  }

  async read(key: string): Promise<LaunchRecord | undefined> {
    const item = await this.#table.get(key);
    return item && parseRecord(item);
  }

  /** Wins or joins in one request. */
  async claim(key: string, fingerprint: string): Promise<Claimed> {
    const holder = randomUUID();
    for (let tries = 0; tries < CLAIM_TRIES; tries++) {
      const now = Date.now();
      const written = await this.#table.update({
        key,
        update:
          "SET #phase = :launching, #holder = :holder, #fence = if_not_exists(#fence, :now) + :one, " +
          "#reservation = :reservation, #fingerprint = :fingerprint, #leaseUntil = :leaseUntil " +
          "REMOVE #ttl, #ids, #nodes, #code, #message, #suspects",
        condition: "attribute_not_exists(#pk) OR #phase = :failed",
        values: {
          ":launching": "launching",
          ":failed": "failed",
          ":holder": holder,
          ":now": now,
          ":one": 1,
          ":reservation": mintReservationId(),
          ":fingerprint": fingerprint,
          ":leaseUntil": now + this.#leaseMs,
        },
      });
      if (written.outcome === "written") return { outcome: "led", record: parseRecord(written.item) };
      if (!written.item) continue;
      const record = parseRecord(written.item);
      return { outcome: record.holder === holder && record.phase === "launching" ? "led" : "joined", record };
    }
    throw new Fault("Unavailable", "The launch record changes faster than it can be read");
  }

  /** Takes over a launch whose lease is over. @returns the record as it stands when somebody else was faster */
  async takeOver(stale: LaunchRecord): Promise<Claimed> {
    const holder = randomUUID();
    const now = Date.now();
    const written = await this.#table.update({
      key: stale.pk,
      update: "SET #holder = :holder, #fence = #fence + :one, #leaseUntil = :leaseUntil REMOVE #suspects",
      condition: "#phase = :launching AND #fence = :fence AND #leaseUntil <= :now",
      values: {
        ":launching": "launching",
        ":holder": holder,
        ":one": 1,
        ":fence": stale.fence,
        ":now": now,
        ":leaseUntil": now + this.#leaseMs,
      },
    });
    const record = parseRecord(written.item ?? {});
    const led = written.outcome === "written" || record.holder === holder;
    return led
      ? { outcome: "led", record: { ...record, suspects: stale.suspects } }
      : { outcome: "joined", record };
  }

  /** The decision. @returns the record as it stands when it was not ours to decide any more */
  decide(mine: LaunchRecord, placed: readonly { id: string; node: string }[]): Promise<Claimed> {
    return this.#end(
      mine,
      "SET #phase = :phase, #ids = :ids, #nodes = :nodes, #ttl = :ttl REMOVE #suspects",
      {
        ":phase": "done",
        ":ids": placed.map(({ id }) => id),
        ":nodes": placed.map(({ node }) => node),
        ":ttl": secondsFromNow(DONE_KEPT_SECONDS),
      },
    );
  }

  /** Nothing was started and nothing will be. Only when that is certain. */
  fail(mine: LaunchRecord, fault: Fault): Promise<Claimed> {
    return this.#end(
      mine,
      "SET #phase = :phase, #code = :code, #message = :message, #ttl = :ttl REMOVE #suspects",
      {
        ":phase": "failed",
        ":code": fault.code,
        ":message": fault.message,
        ":ttl": secondsFromNow(FAILED_KEPT_SECONDS),
      },
    );
  }

  /** Leaves the launch in flight for whoever comes next, who need not wait for the lease. */
  async leave(mine: LaunchRecord, suspects: readonly string[]): Promise<void> {
    await this.#end(mine, "SET #phase = :phase, #leaseUntil = :now, #suspects = :suspects", {
      ":phase": "launching",
      ":now": Date.now(),
      ":suspects": [...suspects],
    });
  }

  async #end(mine: LaunchRecord, update: string, values: Record<string, unknown>): Promise<Claimed> {
    const written = await this.#table.update({
      key: mine.pk,
      update,
      condition: "#phase = :launching AND #fence = :fence AND #holder = :holder",
      values: { ...values, ":launching": "launching", ":fence": mine.fence, ":holder": mine.holder },
    });
    if (!written.item) throw new Fault("Unavailable", "The launch record is gone");
    const record = parseRecord(written.item);
    const ownLostAnswer = record.holder === mine.holder && record.phase === values[":phase"];
    return { outcome: written.outcome === "written" || ownLostAnswer ? "led" : "joined", record };
  }
}

/** The fault that a failed launch ended with, for those who had joined it. */
export function faultOf(record: LaunchRecord): Fault {
  const code =
    record.code && Object.hasOwn(FAULTS, record.code) ? (record.code as FaultCode) : "InternalError";
  return new Fault(code, record.message);
}

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function parseRecord(item: Item): LaunchRecord {
  const parsed = recordSchema.safeParse(item);
  if (parsed.success) return parsed.data;
  throw new Fault("InternalError", `The launch record ${String(item.pk)} cannot be read`, {
    cause: parsed.error,
  });
}
