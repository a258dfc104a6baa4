// 64 launches race for 15 places, each in a sandbox of its own: what they share is NATS and DynamoDB.

import { expect, test } from "vitest";
import { Customer, idsOf, outcomesOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { releaseAtOnce, servedBy, warmSandboxes } from "../support/sandboxes.ts";
import { startStack } from "../support/stack.ts";

const LAUNCHES = 64;
const PLACES = 15;
/** Starting 64 sandboxes takes half a minute on two idle cores, and as long again for each that is not idle. */
const PATIENCE_MS = 600_000;
/** On Lambda each sandbox has a core; here 64 of them wait for two, and waiting is not silence. */
const WINDOWS = { probeMs: 3000, dialMs: 8000, ackMs: 3000, askMs: 1500, gatherMs: 2500, commitMs: 5000 };

test("64 launches, each in its own sandbox, race for 15 places: 15 succeed and 49 get InsufficientInstanceCapacity", {
  timeout: PATIENCE_MS,
}, async () => {
  await using stack = await startStack({
    nodes: "a=10x16,b=10x16,c=10x16",
    sandboxes: LAUNCHES,
    windows: WINDOWS,
  });
  using customer = new Customer(stack);
  await warmSandboxes(stack, customer, LAUNCHES);

  const calls = await releaseAtOnce(stack, customer, () =>
    Array.from({ length: LAUNCHES }, () => customer.launch()),
  );
  const { launched, refused } = await outcomesOf(calls);

  expect(refused.filter(({ code }) => code !== "InsufficientInstanceCapacity")).toEqual([]);
  expect([launched.length, refused.length]).toEqual([PLACES, LAUNCHES - PLACES]);
  await customer.settled();
  expect(stack.allStarts()).toHaveLength(PLACES);
  expect(stack.allStarts().toSorted()).toEqual(idsOf(...launched).toSorted());
  const served = await eventually("the log has them all", () => {
    const lines = servedBy(stack, "RunInstances");
    return lines.length === LAUNCHES ? lines : undefined;
  });
  expect(new Set(served).size).toBe(LAUNCHES);
});
