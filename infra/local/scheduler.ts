// EventBridge: runs the scheduled functions, minute by minute.

import { randomUUID } from "node:crypto";
import { ACCOUNT, REGION } from "./account.ts";
import type { Schedule } from "./functions.ts";

const MINUTE_MS = 60_000;

export interface SchedulerOptions {
  /** Each with what runs its function. */
  schedules: readonly { name: string; schedule: Schedule; run: (event: unknown) => void }[];
  /** How long a minute takes. */
  minuteMs?: number;
}

/** @returns what stops it */
export function startScheduler({ schedules, minuteMs = MINUTE_MS }: SchedulerOptions): () => void {
  const began = Math.floor(Date.now() / MINUTE_MS);
  let minute = began;
  const timer = setInterval(() => {
    minute++;
    for (const { name, schedule, run } of schedules) {
      if (schedule.rate.isDue(minute, began)) run(schedule.input ?? scheduledEvent(name));
    }
  }, minuteMs);
  return () => clearInterval(timer);
}

const scheduledEvent = (name: string) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: ACCOUNT,
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  region: REGION,
  resources: [`arn:aws:events:${REGION}:${ACCOUNT}:rule/${name}`],
  detail: {},
});
