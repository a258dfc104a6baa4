// The launch record on both DynamoDB emulators: who wins, who joins, and what it costs.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CREDENTIALS, REGION, TABLE } from "../../infra/local/account.ts";
import { Fault } from "../../lib/fault.ts";
import { LaunchRecords } from "../../lib/launch/record.ts";
import { createTable } from "../../lib/table.ts";
import { DynamodbProxy } from "../support/dynamodb-proxy.ts";
import { type Emulator, startEmulator } from "../support/emulator.ts";

const LEASE_MS = 5000;

/** Requests that a caller spends who does not win: dynalite leaves the standing item out of a refusal. */
const EMULATORS = [
  { name: "dynalite", loserRequests: 2 },
  { name: "local", loserRequests: 1 },
] as const;

describe.each(EMULATORS)("on $name", ({ name, loserRequests }) => {
  let emulator: Emulator;
  let proxy: DynamodbProxy;

  beforeAll(async () => {
    process.env.AWS_ACCESS_KEY_ID = CREDENTIALS.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = CREDENTIALS.secretAccessKey;
    emulator = await startEmulator(name);
    proxy = await DynamodbProxy.start(emulator.url);
  });

  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await emulator?.stop();
  });

  const recordsOn = (url: string) =>
    new LaunchRecords(createTable({ table: TABLE, region: REGION, endpoint: url }), LEASE_MS);

  test("of 50 claims at once one leads and all others join the same reservation", async () => {
    const callers = Array.from({ length: 50 }, () => recordsOn(emulator.url));
    const claims = await Promise.all(callers.map((records) => records.claim("launch#race", "f")));
    expect(claims.filter(({ outcome }) => outcome === "led")).toHaveLength(1);
    expect(new Set(claims.map(({ record }) => record.reservation)).size).toBe(1);
  });

  test("a claim costs its winner one request, and who joins no more than the emulator asks for", async () => {
    const records = recordsOn(proxy.url);
    await records.read("launch#warm");
    const cost = async () => {
      const before = proxy.count;
      const { outcome } = await records.claim("launch#cost", "f");
      return { outcome, requests: proxy.count - before };
    };
    expect(await cost()).toEqual({ outcome: "led", requests: 1 });
    expect(await cost()).toEqual({ outcome: "joined", requests: loserRequests });
  });

  test("a claim whose answer was lost is recognised as one's own", async () => {
    const records = recordsOn(proxy.url);
    proxy.loseAnswers(1);
    expect(await records.claim("launch#lost", "f")).toMatchObject({ outcome: "led" });
    expect(await recordsOn(emulator.url).claim("launch#lost", "f")).toMatchObject({ outcome: "joined" });
  });

  test("a decision whose answer was lost is recognised as one's own", async () => {
    const records = recordsOn(proxy.url);
    const { record } = await records.claim("launch#decided", "f");
    proxy.loseAnswers(1);
    expect(await records.decide(record, [{ id: "i-1", node: "a" }])).toMatchObject({
      outcome: "led",
      record: { phase: "done" },
    });
  });

  test("only an expired lease is taken over, once, with a higher fence and the same reservation", async () => {
    const owner = recordsOn(emulator.url);
    const { record } = await owner.claim("launch#lease", "f");
    expect(await owner.takeOver(record)).toMatchObject({ outcome: "joined" });
    await owner.leave(record, ["a"]);
    const left = (await owner.read("launch#lease"))!;
    const takers = await Promise.all([1, 2, 3].map(() => recordsOn(emulator.url).takeOver(left)));
    const [taken] = takers.filter(({ outcome }) => outcome === "led");
    expect(takers.filter(({ outcome }) => outcome === "led")).toHaveLength(1);
    expect(taken?.record).toMatchObject({
      fence: record.fence + 1,
      reservation: record.reservation,
      suspects: ["a"],
    });
    expect(await owner.decide(record, [{ id: "i-1", node: "a" }])).toMatchObject({
      outcome: "joined",
      record: { phase: "launching" },
    });
  });

  test("a failed launch frees its token for a new reservation and keeps the fence rising", async () => {
    const records = recordsOn(emulator.url);
    const { record } = await records.claim("launch#failed", "f");
    await records.fail(record, new Fault("InsufficientInstanceCapacity"));
    const again = await records.claim("launch#failed", "f");
    expect(again).toMatchObject({ outcome: "led", record: { fence: record.fence + 1, phase: "launching" } });
    expect(again.record.reservation).not.toBe(record.reservation);
    expect(again.record.code).toBeUndefined();
  });

  test("a table that does not answer is a 503 and no licence to launch", async () => {
    const records = recordsOn(proxy.url);
    proxy.refuse(true);
    await expect(records.claim("launch#down", "f")).rejects.toMatchObject({
      code: "ServiceUnavailable",
      status: 503,
    });
    proxy.refuse(false);
  });
});
