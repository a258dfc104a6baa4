import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { Pool } from "../../infra/local/pool.ts";
import { parseRate } from "../../infra/local/schedule.ts";
import { startScheduler } from "../../infra/local/scheduler.ts";
import { eventually } from "../support/eventually.ts";
import { openHouse } from "./house.ts";

const minute = (iso: string): number => Date.parse(iso) / 60_000;

test.for([
  ["rate(1 minute)", "2026-03-02T08:01Z", true],
  ["rate(5 minutes)", "2026-03-02T08:04Z", false],
  ["rate(5 minutes)", "2026-03-02T08:05Z", true],
  ["rate(1 hour)", "2026-03-02T08:59Z", false],
  ["rate(1 hour)", "2026-03-02T09:00Z", true],
  ["cron(0 8 ? * MON-FRI *)", "2026-03-02T08:00Z", true],
  ["cron(0 8 ? * MON-FRI *)", "2026-03-02T08:01Z", false],
  ["cron(0 8 ? * MON-FRI *)", "2026-03-01T08:00Z", false],
  ["cron(0/15 * * * ? *)", "2026-03-02T08:45Z", true],
  ["cron(0,30 6-8 1 JAN,MAR ? 2026)", "2026-03-01T06:30Z", true],
] as [string, string, boolean][])("%s at %s: %s", ([text, at, due]) => {
  expect(parseRate(text)?.isDue(minute(at), minute("2026-03-02T08:00Z"))).toBe(due);
});

test("a schedule may be in a time zone, with its summer time", () => {
  const rate = parseRate("cron(0 8 ? * * *)", "Australia/Melbourne")!;
  expect([rate.isDue(minute("2026-01-10T21:00Z"), 0), rate.isDue(minute("2026-07-10T22:00Z"), 0)]).toEqual([
    true,
    true,
  ]);
});

test.for([
  "rate(0 minutes)",
  "rate(1 week)",
  "cron(0 8 * *)",
  "cron(0 8 L * ? *)",
  "cron(99 8 ? * * *)",
  "daily",
])("%s is refused", (text) => {
  expect(parseRate(text)).toBeUndefined();
});

test("scheduled functions run when they are due, with EventBridge's event or their own input", async () => {
  await using house = openHouse();
  const seenFile = join(house.folder, "seen");
  const fixture = join(import.meta.dirname, "fixture");
  const fn = readFunctions(join(fixture, "serverless.yml")).find(({ name }) => name === "scheduled")!;
  const env = { SEEN_FILE: seenFile };
  const pool = new Pool({ fn, taskRoot: fixture, env, limit: 4, onLine: () => {}, onSandbox: () => {} });
  const stop = startScheduler({
    schedules: fn.schedules.map((schedule) => ({
      name: fn.name,
      schedule,
      run: (event) => void pool.invoke(event),
    })),
    minuteMs: 50,
  });
  const seen = () =>
    readFileSync(seenFile, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  await eventually("both schedules ran several times", () => seen().length > 8);
  stop();
  pool.close();

  const warms = seen().filter((event) => event.warm);
  const rules = seen().filter((event) => event.source === "aws.events");
  expect(warms[0]).toEqual({ warm: ["gpu-1"] });
  expect(rules[0]).toMatchObject({ "detail-type": "Scheduled Event", region: "us-east-1", detail: {} });
  expect(rules.length).toBeGreaterThan(warms.length);
});
