// A launch that is asked for again with the same client token, by SDKs that repeat and by impatient people.

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTable, keys } from "../../lib/table.ts";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { freeze, thaw } from "../support/sandboxes.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startsFrom } from "../support/starts.ts";

const REPEATS = 6;

let stack: Stack;
let customers: Customer[];

beforeAll(async () => {
  stack = await startStack({ nodes: "a=8x8,b=8x8", gateways: 2, windows: TEST_WINDOWS });
  customers = [new Customer(stack, 0), new Customer(stack, 1)];
});

afterAll(async () => {
  for (const customer of customers ?? []) customer[Symbol.dispose]();
  await stack?.stop();
});

afterEach(() => customers[0]!.leave());

/** Whether the record of this token's launch is claimed and not decided. */
async function isUnderWay(token: string): Promise<boolean> {
  const { account, accessKeyId, secretAccessKey, region, dynamodb } = stack.ready;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
  const table = createTable({ table: dynamodb.table, region, endpoint: dynamodb.url });
  return (await table.get(keys.launch(account, token)))?.phase === "launching";
}

test("repeated while its launch runs, by several sandboxes of two gateways, a token is one reservation", async () => {
  const starts = await startsFrom(customers[0]!);
  const ClientToken = randomUUID();

  const repeats = Array.from({ length: REPEATS }, (_, n) => customers[n % 2]!.launch(3, { ClientToken }));
  const reservations = await Promise.all(repeats);

  expect(new Set(reservations.map(({ ReservationId }) => ReservationId)).size).toBe(1);
  for (const reservation of reservations) expect(idsOf(reservation)).toEqual(idsOf(reservations[0]!));
  expect((await starts.all()).toSorted()).toEqual(idsOf(reservations[0]!).toSorted());
});

test("repeated while frozen nodes hold its launch up, a token is one reservation", async () => {
  const starts = await startsFrom(customers[0]!);
  const ClientToken = randomUUID();
  const nodes = stack.ready.nodes.map(({ pid }) => pid);
  freeze(nodes);
  const repeats = Array.from({ length: REPEATS }, (_, n) => customers[n % 2]!.launch(2, { ClientToken }));
  await eventually("the launch runs", () => isUnderWay(ClientToken));
  thaw(nodes);

  const reservations = await Promise.all(repeats);

  expect(new Set(reservations.map(({ ReservationId }) => ReservationId)).size).toBe(1);
  expect((await starts.all()).toSorted()).toEqual(idsOf(reservations[0]!).toSorted());
});

test("repeated after its launch, a token is the same reservation in its present state", async () => {
  const ClientToken = randomUUID();
  const first = await customers[0]!.launch(2, { ClientToken });
  await customers[0]!.stop(...idsOf(first));
  await customers[0]!.until("stopped", idsOf(first));
  const starts = await startsFrom(customers[0]!);

  const again = await customers[1]!.launch(2, { ClientToken });

  expect([again.ReservationId, idsOf(again)]).toEqual([first.ReservationId, idsOf(first)]);
  expect(again.Instances?.map(({ State }) => State?.Name)).toEqual(["stopped", "stopped"]);
  expect(await starts.all()).toEqual([]);
});

test("a token that was refused for want of room is free, and launches when there is some", async () => {
  const ClientToken = randomUUID();
  const [first] = idsOf(await customers[0]!.launch(8));
  const refusal = await refusalOf(() => customers[0]!.launch(1, { ClientToken }));
  expect(refusal.code).toBe("InsufficientInstanceCapacity");
  await customers[0]!.terminate(first!);
  await customers[0]!.until("terminated", [first!]);

  expect(idsOf(await customers[1]!.launch(1, { ClientToken }))).toHaveLength(1);
});

test("a token that comes with other parameters is IdempotentParameterMismatch and launches nothing", async () => {
  const ClientToken = randomUUID();
  await customers[0]!.launch(1, { ClientToken });
  const starts = await startsFrom(customers[0]!);

  const refusal = await refusalOf(() => customers[1]!.launch(2, { ClientToken }));

  expect(refusal).toMatchObject({ code: "IdempotentParameterMismatch", status: 400 });
  expect(await starts.all()).toEqual([]);
});

test("launches with tokens of their own are launches of their own", async () => {
  const reservations = await Promise.all([customers[0]!.launch(), customers[1]!.launch()]);
  expect(new Set(idsOf(...reservations)).size).toBe(2);
});
