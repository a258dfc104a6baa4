import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { notableText } from "../../infra/local/journal.ts";
import { openHouse } from "./house.ts";

test.for([
  ["a daemon's information", "stderr", '{"level":"info","node":"a","event":"joined"}', undefined],
  [
    "a daemon's error",
    "stderr",
    '{"level":"error","event":"handler","error":"Oops\\n at x\\n at y\\n at z"}',
    "handler: Oops\n at x\n at y",
  ],
  [
    "a request's line",
    "stdout",
    '2026-01-01T00:00:00.000Z\tid\tINFO\t{"action":"RunInstances","status":200}',
    undefined,
  ],
  [
    "a request that went wrong",
    "stdout",
    '2026-01-01T00:00:00.000Z\tid\tINFO\t{"action":"RunInstances","code":"InternalError","error":"Oops"}',
    "RunInstances: InternalError: Oops",
  ],
  [
    "a function's warning",
    "stdout",
    "2026-01-01T00:00:00.000Z\tid\tWARN\tcareful\r  now",
    "careful\n    now",
  ],
  ["nats-server's start", "stderr", "[1] 2026/01/01 00:00:00.000000 [INF] Server is ready", undefined],
  [
    "nats-server's warning",
    "stderr",
    "[1] 2026/01/01 00:00:00.000000 [WRN] Plaintext passwords detected",
    undefined,
  ],
  [
    "nats-server's error",
    "stderr",
    "[1] 2026/01/01 00:00:00.000000 [ERR] Publish Violation",
    "Publish Violation",
  ],
  ["a runtime's complaint", "stderr", "node:internal/errors:540", "node:internal/errors:540"],
  ["other output", "stdout", "hello", undefined],
] as [string, "stdout" | "stderr", string, string | undefined][])(
  "%s is shown or not",
  ([, stream, line, shown]) => {
    expect(notableText(stream, line)).toBe(shown);
  },
);

test("what is said again and again is shown once, and kept in the file each time", async () => {
  await using house = openHouse();
  for (let n = 0; n < 5; n++)
    house.journal.write("node-1", "stderr", '{"level":"error","event":"handler","error":"Oops"}');
  await house.journal.close();

  expect(house.shown).toEqual(["node-1: handler: Oops\n"]);
  expect(readFileSync(house.journal.file, "utf8").match(/Oops/g)).toHaveLength(5);
});
