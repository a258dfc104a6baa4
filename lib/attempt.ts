// An attempt is (fence, n): the fence rises whenever a launch record is claimed or taken over, n whenever its
// holder turns to the nodes again. Nodes obey the highest attempt they have seen and nothing lower.

import { createHash, randomBytes } from "node:crypto";
import * as z from "zod/mini";

export const attemptSchema = z.object({ fence: z.int(), n: z.int() });
export type Attempt = z.infer<typeof attemptSchema>;

/** @returns below zero when `a` is the older, zero when they are the same, above zero when `a` is the newer. */
export const compareAttempts = (a: Attempt, b: Attempt): number => a.fence - b.fence || a.n - b.n;

export const formatAttempt = (attempt: Attempt): string => `${attempt.fence}.${attempt.n}`;

/** @returns undefined when the text is not `fence.n` with two whole numbers. */
export function parseAttempt(text: string): Attempt | undefined {
  const found = /^(\d{1,15})\.(\d{1,9})$/.exec(text);
  return found ? { fence: Number(found[1]), n: Number(found[2]) } : undefined;
}

/** What may become the name of a file on a node. */
export const INSTANCE_ID = /^i-[0-9a-f]{8,17}$/;

const HEX_OF_AN_ID = 17;

/**
 * The id of one instance of a launch: a hash of (reservation, attempt, index), so that no id is ever offered by
 * two attempts and whoever knows the attempt can name its instances.
 */
export function instanceId(reservation: string, attempt: Attempt, index: number): string {
  const digest = createHash("sha256")
    .update(`${reservation}|${formatAttempt(attempt)}|${index}`)
    .digest("hex");
  return `i-${digest.slice(0, HEX_OF_AN_ID)}`;
}

export const mintReservationId = (): string => `r-${randomBytes(9).toString("hex").slice(0, HEX_OF_AN_ID)}`;
