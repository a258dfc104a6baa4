// A launch as it comes over NATS: its headers and body, parsed.
//
// With our headers it speaks for a launch record and an attempt; without them it is a plain request of today's
// clusters, for which this node mints what the gateway would have.

import { type Attempt, INSTANCE_ID, instanceId, mintReservationId, parseAttempt } from "../attempt.ts";
import { capacityOf } from "../capacity.ts";
import { type Incoming, parseTried } from "../exchange.ts";
import { type LaunchInput, launchInputSchema } from "../seed.ts";
import { HEADERS, type LaunchRef, type Seat } from "../wire.ts";

export interface LaunchCall {
  /** Whether the sender speaks our dialect: attempts, acknowledgements, plans. */
  ours: boolean;
  launch: LaunchRef;
  input: LaunchInput;
  seats: Seat[];
  tried: string[];
  /** Epoch milliseconds. */
  deadline: number;
  wantsAck: boolean;
}

export type ParsedCall = { call: LaunchCall } | { problem: string; ours: boolean; code?: string };

/** The owner of what a plain request without an account starts; today's clusters have that one hard-coded. */
const PLAIN_ACCOUNT = "123456789012";

/** Most instances of one launch; keeps the header of ids far below NATS's limit of 1 MiB. */
const MOST_INSTANCES = 1000;

export function parseLaunchCall(incoming: Incoming, launchMs: number): ParsedCall {
  const { header } = incoming;
  const reservation = header(HEADERS.reservation);
  const ours = reservation !== undefined;
  const input = launchInputSchema.safeParse(incoming.body);
  if (!input.success) {
    const issue = input.error.issues[0];
    return {
      ours,
      problem: `${issue?.path.join(".") || "body"}: ${issue?.message ?? "not a RunInstancesInput"}`,
    };
  }
  const { MinCount, MaxCount, InstanceType } = input.data;
  if (!capacityOf(InstanceType)) {
    return { ours, code: "InvalidInstanceType", problem: `${InstanceType} is no instance type on offer` };
  }
  if (MinCount > MaxCount) return { ours, problem: "MinCount is above MaxCount" };
  if (MaxCount > MOST_INSTANCES) return { ours, problem: `MaxCount is above ${MOST_INSTANCES}` };

  const attempt = ours ? parseAttempt(header(HEADERS.attempt) ?? "") : { fence: Date.now(), n: 1 };
  if (!attempt) return { ours, problem: `${HEADERS.attempt} must be fence.n` };
  const deadline = readDeadline(header(HEADERS.deadline), launchMs);
  if (deadline === undefined) return { ours, problem: `${HEADERS.deadline} must be epoch milliseconds` };
  const launch: LaunchRef = {
    reservation: reservation ?? mintReservationId(),
    account: header(HEADERS.account) ?? PLAIN_ACCOUNT,
    attempt,
    ...keyOf(header(HEADERS.launchKey)),
  };
  const seats = seatsOf(header(HEADERS.instanceIds), launch.reservation, attempt, MaxCount);
  if (!seats) return { ours, problem: `${HEADERS.instanceIds} must list MaxCount instance ids, each once` };
  return {
    call: {
      ours,
      launch,
      input: input.data,
      seats,
      tried: parseTried(header(HEADERS.tried)),
      deadline,
      wantsAck: header(HEADERS.acceptAck) === "1",
    },
  };
}

const keyOf = (key: string | undefined): { key?: string } => (key ? { key } : {});

function readDeadline(text: string | undefined, launchMs: number): number | undefined {
  if (text === undefined) return Date.now() + launchMs;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function seatsOf(
  text: string | undefined,
  reservation: string,
  attempt: Attempt,
  count: number,
): Seat[] | undefined {
  const ids =
    text?.split(",") ?? Array.from({ length: count }, (_, index) => instanceId(reservation, attempt, index));
  const fine = ids.length === count && new Set(ids).size === count && ids.every((id) => INSTANCE_ID.test(id));
  return fine ? ids.map((id, index) => ({ id, index })) : undefined;
}
