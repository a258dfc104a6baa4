// One attempt of a launch: published, acknowledged, answered.
//
// 1. Subjects are tried in order until somebody is there. The typed one comes first: whoever is on it has room. Nobody
//    there is no verdict; the plain subject follows.
// 2. No sign within `ackMs`, or none for `quietMs` after the last: the outcome is unknown. Whether there was an
//    acknowledgement matters: without one nothing was started, since it leaves a node before room is taken.
// 3. The first answer counts. Should the network have delivered the launch twice, the second answer is an echo, which
//    the caller collects and clears away before it answers.

import { type Attempt, formatAttempt, instanceId } from "../attempt.ts";
import type { Exchange } from "../exchange.ts";
import { afterSilence } from "../patience.ts";
import type { Windows } from "../windows.ts";
import { HEADERS, type LaunchAnswer, type LaunchRef, launchAnswerSchema } from "../wire.ts";

export interface Published {
  launch: LaunchRef;
  maxCount: number;
  input: Record<string, unknown>;
  tried: readonly string[];
  /** Epoch milliseconds. */
  deadline: number;
  trace?: string | undefined;
}

export interface Publishing {
  outcome: PublishOutcome;
  /** Answers of other nodes that have come since; none are taken after this. */
  echoes: () => LaunchAnswer[];
  /** Nodes that have acknowledged, also after the outcome. */
  signs: ReadonlySet<string>;
}

export type PublishOutcome =
  | { outcome: "answered"; answer: LaunchAnswer }
  | { outcome: "absent" }
  /** `by` is the node that acknowledged, if one did. */
  | { outcome: "silent"; by: string | undefined }
  /** The connection went, and any acknowledgement with it. */
  | { outcome: "closed" };

/** @param subjects at least one */
export async function publishLaunch(
  exchange: Exchange,
  windows: Windows,
  launch: Published,
  subjects: readonly string[],
): Promise<Publishing> {
  const [subject, ...others] = subjects;
  const publishing = await publishTo(exchange, windows, launch, subject!);
  const alone = publishing.outcome.outcome === "absent" && others.length > 0;
  if (!alone) return publishing;
  publishing.echoes();
  return publishLaunch(exchange, windows, launch, others);
}

function publishTo(
  exchange: Exchange,
  windows: Windows,
  launch: Published,
  subject: string,
): Promise<Publishing> {
  return new Promise((resolve) => {
    let by: string | undefined;
    const signs = new Set<string>();
    let over = false;
    const later: LaunchAnswer[] = [];
    let close = () => {};
    let callOff = () => {};
    const echoes = () => {
      close();
      return later;
    };
    const end = (outcome: PublishOutcome) => {
      over = true;
      callOff();
      resolve({ outcome, echoes, signs });
    };
    const patience = (ms: number) => {
      callOff();
      callOff = afterSilence(ms, () => end({ outcome: "silent", by }));
    };
    patience(windows.ackMs);
    close = exchange.open(subject, launch.input, headersOf(launch), (reply) => {
      if (reply.kind !== "message") {
        if (!over) end({ outcome: reply.kind });
        return;
      }
      const acknowledged = reply.header(HEADERS.ack);
      if (acknowledged) {
        signs.add(acknowledged);
        if (over) return;
        by = acknowledged;
        return patience(windows.quietMs);
      }
      const answer = launchAnswerSchema.safeParse(reply.body);
      if (!answer.success) return;
      if (over) later.push(answer.data);
      else end({ outcome: "answered", answer: answer.data });
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
