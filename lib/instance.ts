// The instance record: what a node stores of an instance, its six states and the moves between them.

import * as z from "zod/mini";
import { attemptSchema } from "./attempt.ts";

/** EC2's six states with the numeric codes of its InstanceState shape. */
export const STATE_CODES = {
  pending: 0,
  running: 16,
  "shutting-down": 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
} as const;

export type InstanceState = keyof typeof STATE_CODES;

const stateSchema = z.enum(Object.keys(STATE_CODES) as [InstanceState, ...InstanceState[]]);

/** Room is taken from the commit until the instance is stopped or gone; a stopped instance gives it back. */
export const takesRoom = (state: InstanceState): boolean => state !== "stopped" && state !== "terminated";

/** An instance that a launch still counts as its own. */
export const isLive = (state: InstanceState): boolean => state !== "shutting-down" && state !== "terminated";

export const CHANGES = ["start", "stop", "reboot", "terminate"] as const;
export type Change = (typeof CHANGES)[number];

type Move = { to: InstanceState } | "no-op" | "wrong-state";

/**
 * What a change does in each state, as EC2's documentation and public reports have it: repeating a change that is
 * already so succeeds and does nothing; what cannot be done is IncorrectInstanceState.
 */
export const MOVES: Readonly<Record<Change, Readonly<Record<InstanceState, Move>>>> = {
  start: {
    pending: "no-op",
    running: "no-op",
    stopping: "wrong-state",
    stopped: { to: "pending" },
    "shutting-down": "wrong-state",
    terminated: "wrong-state",
  },
  stop: {
    // EC2's answer for a pending instance is reported both ways; stopping it is what a caller wants.
    pending: { to: "stopping" },
    running: { to: "stopping" },
    stopping: "no-op",
    stopped: "no-op",
    "shutting-down": "wrong-state",
    terminated: "wrong-state",
  },
  reboot: {
    pending: "no-op",
    running: { to: "running" },
    stopping: "wrong-state",
    stopped: "wrong-state",
    "shutting-down": "wrong-state",
    terminated: "wrong-state",
  },
  terminate: {
    pending: { to: "shutting-down" },
    running: { to: "shutting-down" },
    stopping: { to: "shutting-down" },
    // Nothing runs that would have to shut down, and the room was given back when it stopped.
    stopped: { to: "terminated" },
    "shutting-down": "no-op",
    terminated: "no-op",
  },
};

export const tagSchema = z.object({ key: z.string(), value: z.string() });

/** Times are epoch milliseconds. `launchKey` and `attempt` tie the instance to its launch record. */
export const instanceSchema = z.object({
  id: z.string(),
  node: z.string(),
  account: z.string(),
  reservation: z.string(),
  launchKey: z.optional(z.string()),
  attempt: attemptSchema,
  index: z.int(),
  type: z.string(),
  imageId: z.string(),
  state: stateSchema,
  stateReason: z.optional(z.object({ code: z.string(), message: z.string() })),
  /** EC2's `reason`, such as `User initiated (2026-01-02 03:04:05 GMT)`. */
  transition: z.optional(z.string()),
  launchedAt: z.number(),
  /** When the state last changed. */
  changedAt: z.optional(z.number()),
  keyName: z.optional(z.string()),
  userData: z.optional(z.string()),
  clientToken: z.optional(z.string()),
  tags: z.array(tagSchema),
  privateIp: z.optional(z.string()),
});

export type Instance = z.infer<typeof instanceSchema>;

/**
 * What a node says of an instance while its launch is decided. Everything else both sides know from the request, and
 * a thousand instances with all their tags would not fit into one NATS message.
 */
export const placedSchema = z.object({
  id: z.string(),
  index: z.int(),
  node: z.string(),
  attempt: attemptSchema,
  state: stateSchema,
  launchedAt: z.number(),
});
export type Placed = z.infer<typeof placedSchema>;

export const placedOf = ({ id, index, node, attempt, state, launchedAt }: Placed): Placed => ({
  id,
  index,
  node,
  attempt,
  state,
  launchedAt,
});
