// THE TABLE of what goes over NATS: subjects, headers, and each verb's ask and answer.
//
// A node reads `hive.node.<itself>.<verb>.<who asks>` and publishes only subjects that end in its own name, so the
// server's permissions can tell who speaks. The launch subjects and `Hive-Tried-Nodes` keep the names they had in
// today's clusters. Readers ignore unknown fields; writers send what the schema lists.

import * as z from "zod/mini";
import { attemptSchema, INSTANCE_ID } from "./attempt.ts";
import { CHANGES, instanceSchema, placedSchema } from "./instance.ts";
import type { Windows } from "./windows.ts";

export const WIRE_VERSION = 1;

/** A node's name is one token of a subject. */
export const NODE_NAME = /^[A-Za-z0-9_-]+$/;

/** The name under which a gateway asks. No node may be called so. */
export const GATEWAY_NAME = "gateway";

export const QUEUE_GROUP = "hive-workers";

export const HEADERS = {
  tried: "Hive-Tried-Nodes",
  deadline: "Hive-Deadline",
  acceptAck: "Hive-Accept-Ack",
  ack: "Hive-Ack",
  reservation: "Hive-Reservation",
  attempt: "Hive-Attempt",
  instanceIds: "Hive-Instance-Ids",
  launchKey: "Hive-Launch",
  account: "X-Account-ID",
  trace: "traceparent",
} as const;

const SUBJECT = "ec2.RunInstances";

/** Where a launch goes. The typed subject has subscribers only while one of that type fits somewhere. */
export const launchSubject = (type?: string): string => (type ? `${SUBJECT}.${type}` : SUBJECT);

/** The same, handed to one node by name: after a silence the queue group might pick the silent one again. */
export const namedLaunchSubject = (node: string): string =>
  `hive.node.${node}.${NAMED_LAUNCH}.${GATEWAY_NAME}`;
export const NAMED_LAUNCH = "launch";

/** Who still has room for one of `type`? Answered by one node of the queue group, under the typed subject's rule. */
export const roomSubject = (type: string, from: string): string => `hive.room.${type}.${from}`;

export const beatSubject = (node: string): string => `hive.beat.${node}`;

/** Says which launch speaks. Without `key` (a plain request of today's clusters) there is no record to ask. */
export const launchRefSchema = z.object({
  key: z.optional(z.string()),
  reservation: z.string(),
  account: z.string(),
  attempt: attemptSchema,
});
export type LaunchRef = z.infer<typeof launchRefSchema>;

const seatSchema = z.object({ id: z.string().check(z.regex(INSTANCE_ID)), index: z.int() });
/** The place of one instance in its reservation. */
export type Seat = z.infer<typeof seatSchema>;

const seatsSchema = z
  .array(seatSchema)
  .check(
    z.refine((seats) => new Set(seats.map(({ id }) => id)).size === seats.length, "an id is listed twice"),
  );

const late = z.object({ outcome: z.literal("late") });
const superseded = z.object({ outcome: z.literal("superseded"), by: attemptSchema });
const empty = z.object({});

/** Why a node will never take one instance of the launch, however empty it is. */
const neverSchema = z.enum(["size", "image"]);
export type Never = z.infer<typeof neverSchema>;

const capacitySchema = z.object({
  vcpu: z.number(),
  memMiB: z.number(),
  gpus: z.record(z.string(), z.number()),
});

/** A heartbeat; also the answer to one that asks for it when a daemon joins. */
export const beatSchema = z.object({
  v: z.int(),
  node: z.string(),
  free: capacitySchema,
  total: capacitySchema,
  leaving: z.optional(z.boolean()),
});
export type Beat = z.infer<typeof beatSchema>;

export const roomAnswerSchema = z.object({ node: z.string() });

/** What the node that was handed a launch answers to a gateway. */
export const launchAnswerSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("started"), node: z.string(), instances: z.array(placedSchema) }),
  z.object({
    outcome: z.literal("plan"),
    node: z.string(),
    parts: z.array(z.object({ node: z.string(), hold: z.string(), seats: z.array(seatSchema) })),
  }),
  z.object({
    outcome: z.literal("refused"),
    node: z.string(),
    why: z.enum(["capacity", "size", "image"]),
    /** Nodes that said no, the coordinator among them when it did. */
    answered: z.array(z.string()),
    /** Nodes that were asked and said nothing. */
    unanswered: z.array(z.string()),
  }),
  z.object({ outcome: z.literal("invalid"), node: z.string(), code: z.string(), message: z.string() }),
  late,
  superseded,
]);
export type LaunchAnswer = z.infer<typeof launchAnswerSchema>;

const found = z.object({ outcome: z.literal("found"), instances: z.array(placedSchema) });

/** THE TABLE of verbs that a node answers by name. `within` names the window in which an answer is expected. */
export const VERBS = {
  /** Set room aside for part of a launch. */
  hold: {
    within: "askMs",
    ask: z.object({
      launch: launchRefSchema,
      hold: z.string(),
      type: z.string(),
      imageId: z.string(),
      count: z.int().check(z.gt(0)),
      deadline: z.number(),
    }),
    answer: z.discriminatedUnion("outcome", [
      z.object({ outcome: z.literal("held"), count: z.int(), busy: z.optional(z.boolean()) }),
      z.object({ outcome: z.literal("busy") }),
      z.object({ outcome: z.literal("full") }),
      z.object({ outcome: z.literal("tried") }),
      z.object({ outcome: z.literal("never"), why: neverSchema }),
      late,
      superseded,
    ]),
  },
  /** Give a hold back. One that comes before its hold leaves a tombstone. */
  release: {
    within: "askMs",
    ask: z.object({ launch: launchRefSchema, hold: z.string() }),
    answer: z.object({ outcome: z.literal("released") }),
  },
  /** Turn a hold into instances. */
  commit: {
    within: "commitMs",
    ask: z.object({
      launch: launchRefSchema,
      hold: z.string(),
      seats: seatsSchema,
      input: z.unknown(),
      deadline: z.number(),
    }),
    answer: z.discriminatedUnion("outcome", [
      z.object({ outcome: z.literal("started"), instances: z.array(placedSchema) }),
      z.object({ outcome: z.literal("lapsed") }),
      late,
      superseded,
    ]),
  },
  /** What did this launch leave here? Closes every older attempt. */
  gather: {
    within: "gatherMs",
    ask: z.object({ launch: launchRefSchema }),
    answer: z.discriminatedUnion("outcome", [found, superseded]),
  },
  /** End instances of this launch that nobody will be told about. */
  undo: {
    within: "commitMs",
    ask: z.object({ launch: launchRefSchema, ids: z.array(z.string()) }),
    answer: z.discriminatedUnion("outcome", [z.object({ outcome: z.literal("undone") }), superseded]),
  },
  /**
   * The instances of an account held here, all or those named, and the nodes this one knows. By id, and as many as fit
   * into a message: `more` says that there are others after the last. User data is not among what is told.
   */
  instances: {
    within: "readMs",
    ask: z.object({
      account: z.string(),
      ids: z.optional(z.array(z.string())),
      after: z.optional(z.string()),
    }),
    answer: z.object({ instances: z.array(instanceSchema), roster: z.array(z.string()), more: z.boolean() }),
  },
  /** Start, stop, reboot or terminate instances held here: all that can be, each with its own outcome. */
  change: {
    within: "changeMs",
    ask: z.object({ account: z.string(), change: z.enum(CHANGES), ids: z.array(z.string()) }),
    answer: z.object({
      results: z.array(
        z.discriminatedUnion("outcome", [
          z.object({
            outcome: z.literal("changed"),
            id: z.string(),
            previous: instanceSchema.shape.state,
            current: instanceSchema.shape.state,
          }),
          z.object({ outcome: z.literal("wrong-state"), id: z.string(), state: instanceSchema.shape.state }),
          z.object({ outcome: z.literal("no-room"), id: z.string() }),
          z.object({ outcome: z.literal("absent"), id: z.string() }),
        ]),
      ),
    }),
  },
  /** How the node sees itself and the fleet; what the local stack waits for, and a person can read. */
  status: {
    within: "readMs",
    ask: empty,
    answer: z.object({
      node: z.string(),
      joined: z.boolean(),
      free: capacitySchema,
      total: capacitySchema,
      held: z.int(),
      instances: z.int(),
      roster: z.array(z.string()),
      types: z.array(z.string()),
    }),
  },
} as const satisfies Record<string, { within: keyof Windows; ask: z.ZodMiniType; answer: z.ZodMiniType }>;

export type Verb = keyof typeof VERBS;
export type Ask<V extends Verb> = z.infer<(typeof VERBS)[V]["ask"]>;
export type Answer<V extends Verb> = z.infer<(typeof VERBS)[V]["answer"]>;

export const verbSubject = (node: string, verb: Verb, from: string): string =>
  `hive.node.${node}.${verb}.${from}`;

/** All of one node's verbs, from whoever may ask. */
export const verbsOf = (node: string): string => `hive.node.${node}.*.*`;

/** Inboxes carry their owner's name too, so that the server can keep others from reading them. */
export const inboxPrefix = (name: string): string => `_INBOX.${name}`;
