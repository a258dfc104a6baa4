// 64 launches race for 15 places, each in a sandbox of its own: what they share is NATS and DynamoDB.

import { expect, test } from "vitest";
import { Customer, idsOf, outcomesOf, refusalOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { releaseAtOnce, servedBy, warmSandboxes } from "../support/sandboxes.ts";
import { startStack } from "../support/stack.ts";

const LAUNCHES = 64;
const PLACES = 15;
/** Starting 64 sandboxes takes half a second of a core each. */
const START_MS = 240_000;

test("64 launches, each in its own sandbox, race for 15 places: 15 succeed and 49 get InsufficientInstanceCapacity", {
  timeout: START_MS,
}, async () => {
  await using stack = await startStack({ nodes: "a=10x16,b=10x16,c=10x16", sandboxes: 2 * LAUNCHES });
  using customer = new Customer(stack);
  await warmSandboxes(stack, customer, LAUNCHES);
  const many = <T>(call: () => Promise<T>) => Array.from({ length: LAUNCHES }, call);
  // A core and a half are not what 64 sandboxes have on Lambda: what each does first is done before the race.
  await Promise.allSettled(await releaseAtOnce(stack, customer, () => many(() => customer.instances())));

  const calls = await releaseAtOnce(stack, customer, () => many(() => customer.launch()));
  const { launched, refused } = await outcomesOf(calls);

  const codes = Object.groupBy(refused, ({ code }) => code);
  expect(Object.keys(codes)).toEqual(["InsufficientInstanceCapacity"]);
  expect([launched.length, refused.length]).toEqual([PLACES, LAUNCHES - PLACES]);
  expect(stack.allStarts()).toHaveLength(PLACES);
  expect(stack.allStarts().toSorted()).toEqual(idsOf(...launched).toSorted());
  const sandboxes = await eventually("the log has them all", () => {
    const served = servedBy(stack, "RunInstances");
    return served.length === LAUNCHES ? served : undefined;
  });
  expect(new Set(sandboxes).size).toBe(LAUNCHES);
  // Nor is anything held or half begun: one more is refused at once.
  expect((await refusalOf(() => customer.launch())).code).toBe("InsufficientInstanceCapacity");
});
