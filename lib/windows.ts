// Windows of time: every time-out, deadline and interval of the gateway and its nodes, in one place.
//
// `NIGHTPORTER_WINDOWS` may override some of them as a JSON object, which is how tests run them at a tenth.

import * as z from "zod/mini";

const ms = z.number().check(z.gt(0));

export const windowsSchema = z.strictObject({
  /** The gateway waits this long for a first sign of the node that was handed a launch. A hung node costs this once. */
  ackMs: z._default(ms, 300),
  /** Longest silence after an acknowledgement; the node repeats it every `ackAgainMs` while it works. */
  quietMs: z._default(ms, 3000),
  ackAgainMs: z._default(ms, 1000),
  /** From publishing a launch to its `Hive-Deadline`. After it no node may start anything for that attempt. */
  launchMs: z._default(ms, 8000),
  /** How long a launch may take in all before the caller is told to come again; below API Gateway's 30 s. */
  budgetMs: z._default(ms, 20_000),
  /** Lease of a launch record: covers `budgetMs`, so that only a dead or frozen owner is taken over. */
  leaseMs: z._default(ms, 25_000),
  /** How far the clocks of two hosts may be apart. Taken off the lease before it becomes a deadline. */
  skewMs: z._default(ms, 2000),
  /** A hold lapses after this on the node's monotonic clock: long enough for a slow gateway, short enough to forget. */
  holdMs: z._default(ms, 10_000),
  /** One node asking another by name. A frozen peer costs this once a launch. */
  askMs: z._default(ms, 150),
  /** The gateway waiting for a commit or an undo: covers a slow disk. */
  commitMs: z._default(ms, 1000),
  /** The gateway gathering what a launch left on the nodes. Shorter than a commit: it reads memory. */
  gatherMs: z._default(ms, 250),
  /** The gateway asking nodes what they hold, or telling one to stop or start something. */
  readMs: z._default(ms, 1000),
  changeMs: z._default(ms, 2000),
  /** Pause before a coordinator that met only holds asks again: random, so that two launches do not keep step. */
  busyMinMs: z._default(ms, 20),
  busyMaxMs: z._default(ms, 100),
  /** How often a caller that joined a launch looks at its record. */
  joinPollMs: z._default(ms, 100),
  /** Shortest interval between two heartbeats of a node; with N nodes it is N x `beatPerNodeMs`. */
  beatMs: z._default(ms, 2000),
  beatPerNodeMs: z._default(ms, 100),
  /** A daemon that has just connected waits this long for the rest of the fleet before it takes launches. */
  hearMs: z._default(ms, 300),
  /** How long the memory of past attempts and tombstones is kept: beyond any lease. */
  rememberMs: z._default(ms, 10 * 60_000),
  /** The gateway checks its NATS connection with a round trip before the first ask; a frozen one fails within this. */
  probeMs: z._default(ms, 300),
  dialMs: z._default(ms, 2000),
  /** A secret in a store is read again after this, so that one withdrawn there ends here too. */
  secretMs: z._default(ms, 5 * 60_000),
  /** Between two readings because something was refused. A stranger can cause them; Parameter Store does 40 a second. */
  secretAgainMs: z._default(ms, 10_000),
  /** A handler answers this long before Lambda would cut it off. */
  answerMs: z._default(ms, 500),
});

export type Windows = z.infer<typeof windowsSchema>;

/**
 * @param text the value of NIGHTPORTER_WINDOWS, a JSON object, or undefined for the defaults
 * @throws Error naming what is wrong with the text
 */
export function readWindows(text: string | undefined): Windows {
  let given: unknown = {};
  try {
    given = JSON.parse(text?.trim() || "{}");
  } catch {
    throw new Error("NIGHTPORTER_WINDOWS must be a JSON object of milliseconds");
  }
  const parsed = windowsSchema.safeParse(given);
  if (!parsed.success) {
    throw new Error(`NIGHTPORTER_WINDOWS: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data;
}
