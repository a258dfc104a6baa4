import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compareAttempts, instanceId, parseAttempt } from "../../lib/attempt.ts";
import { AttemptMemory } from "../../lib/node/attempt-memory.ts";

const REMEMBER_MS = 60_000;
let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nightporter-attempts-"));
  file = join(dir, "attempts");
});

afterEach(() => rmSync(dir, { recursive: true }));

test("a lower attempt is superseded by the highest seen, the same one is not", () => {
  const memory = new AttemptMemory(file, REMEMBER_MS);
  expect(memory.see("r", { fence: 2, n: 3 })).toBeUndefined();
  expect(memory.see("r", { fence: 2, n: 3 })).toBeUndefined();
  expect(memory.see("r", { fence: 1, n: 9 })).toEqual({ fence: 2, n: 3 });
  expect(memory.see("s", { fence: 1, n: 1 })).toBeUndefined();
});

test("what was seen outlives the process, and a last line cut short does no harm", () => {
  new AttemptMemory(file, REMEMBER_MS).see("r", { fence: 2, n: 3 });
  appendFileSync(file, "s 5.");
  expect(new AttemptMemory(file, REMEMBER_MS).highest("r")).toEqual({ fence: 2, n: 3 });
  expect(new AttemptMemory(file, REMEMBER_MS).highest("s")).toBeUndefined();
});

test("what is older than any lease is forgotten at the next start", () => {
  writeFileSync(file, `old 1.1 ${Date.now() - 2 * REMEMBER_MS}\nnew 1.1 ${Date.now()}\n`);
  const memory = new AttemptMemory(file, REMEMBER_MS);
  expect(memory.highest("old")).toBeUndefined();
  expect(memory.highest("new")).toEqual({ fence: 1, n: 1 });
  expect(readFileSync(file, "utf8")).not.toContain("old");
});

test.each(["", "1", "1.", ".1", "1.2.3", "a.b", "-1.2", "1.2 "])("%j is no attempt", (text) => {
  expect(parseAttempt(text)).toBeUndefined();
});

test("attempts compare by fence, then by n", () => {
  const sorted = ["2.1", "1.10", "1.9"].map((text) => parseAttempt(text)!).sort(compareAttempts);
  expect(sorted).toEqual([
    { fence: 1, n: 9 },
    { fence: 1, n: 10 },
    { fence: 2, n: 1 },
  ]);
});

test("no id is offered by two attempts, reservations or places", () => {
  const of = (reservation: string, fence: number, n: number, index: number) =>
    instanceId(reservation, { fence, n }, index);
  const ids = [
    of("r", 1, 1, 0),
    of("r", 1, 1, 1),
    of("r", 1, 2, 0),
    of("r", 2, 1, 0),
    of("s", 1, 1, 0),
    of("r", 11, 1, 0),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^i-[0-9a-f]{17}$/);
});
