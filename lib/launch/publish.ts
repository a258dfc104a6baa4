// One attempt of a launch: published, acknowledged, answered.
//
// 1. The typed subject first: whoever is on it has room. Nobody there is no verdict; the plain subject follows.
// 2. No sign within `ackMs`, or none for `quietMs` after the last: the outcome is unknown. Whether there was an
//    acknowledgement matters: without one nothing was started, since it leaves a node before room is taken.

import { type Attempt, formatAttempt, instanceId } from "../attempt.ts";
import type { Exchange } from "../exchange.ts";
import type { Windows } from "../windows.ts";
import { HEADERS, type LaunchAnswer, type LaunchRef, launchAnswerSchema, launchSubject } from "../wire.ts";

export interface Published {
  launch: LaunchRef;
  type: string;
  maxCount: number;
  input: Record<string, unknown>;
  tried: readonly string[];
  /** Epoch milliseconds. */
  deadline: number;
  trace?: string | undefined;
}

export type PublishOutcome =
  | { outcome: "answered"; answer: LaunchAnswer }
  | { outcome: "absent" }
  /** `by` is the node that acknowledged, if one did. */
  | { outcome: "silent"; by: string | undefined };

export async function publishLaunch(
  exchange: Exchange,
  windows: Windows,
  launch: Published,
  typedFirst: boolean,
): Promise<PublishOutcome> {
  if (typedFirst) {
    const typed = await publishTo(exchange, windows, launch, launchSubject(launch.type));
    if (typed.outcome !== "absent") return typed;
  }
  return publishTo(exchange, windows, launch, launchSubject());
}

function publishTo(
  exchange: Exchange,
  windows: Windows,
  launch: Published,
  subject: string,
): Promise<PublishOutcome> {
  return new Promise((resolve) => {
    let by: string | undefined;
    let close = () => {};
    let timer: NodeJS.Timeout | undefined;
    const end = (outcome: PublishOutcome) => {
      clearTimeout(timer);
      close();
      resolve(outcome);
    };
    const patience = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => end({ outcome: "silent", by }), ms);
    };
    patience(windows.ackMs);
    close = exchange.open(subject, launch.input, headersOf(launch), (reply) => {
      if (reply.kind === "absent") return end({ outcome: "absent" });
      if (reply.kind === "closed") return end({ outcome: "silent", by });
      const acknowledged = reply.header(HEADERS.ack);
      if (acknowledged) {
        by = acknowledged;
        return patience(windows.quietMs);
      }
      const answer = launchAnswerSchema.safeParse(reply.body);
      if (answer.success) end({ outcome: "answered", answer: answer.data });
    });
  });
}

function headersOf({ launch, maxCount, tried, deadline, trace }: Published): Record<string, string> {
  return {
    [HEADERS.reservation]: launch.reservation,
    [HEADERS.attempt]: formatAttempt(launch.attempt),
    [HEADERS.instanceIds]: instanceIds(launch.reservation, launch.attempt, maxCount).join(","),
    [HEADERS.deadline]: String(deadline),
    [HEADERS.acceptAck]: "1",
    [HEADERS.account]: launch.account,
    ...(launch.key ? { [HEADERS.launchKey]: launch.key } : {}),
    ...(tried.length > 0 ? { [HEADERS.tried]: tried.join(",") } : {}),
    ...(trace ? { [HEADERS.trace]: trace } : {}),
  };
}

const instanceIds = (reservation: string, attempt: Attempt, count: number): string[] =>
  Array.from({ length: count }, (_, index) => instanceId(reservation, attempt, index));
