// Guests that boot for longer than any test lasts.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { type Stack, startStack } from "../support/stack.ts";

const BOOT_MS = 600_000;

let stack: Stack;
let customer: Customer;

beforeAll(async () => {
  stack = await startStack({ nodes: "a=4x8", bootMs: BOOT_MS, windows: TEST_WINDOWS });
  customer = new Customer(stack);
});

afterAll(async () => {
  customer?.[Symbol.dispose]();
  await stack?.stop();
});

beforeEach(() => customer.leave());

test("a launch is answered before its guests have booted, and they are shown as pending until then", async () => {
  const launched = idsOf(await customer.launch(2));
  expect(await customer.states(launched)).toEqual(["pending", "pending"]);
});

test("an instance has its room from the moment of its launch", async () => {
  await customer.launch(2);
  expect((await refusalOf(() => customer.launch())).code).toBe("InsufficientInstanceCapacity");
});

test("an instance that is stopped before it has booted is stopped, and boots anew when it is started", async () => {
  const [id] = idsOf(await customer.launch());

  const [stopping] = (await customer.stop(id!))!;
  expect([stopping?.PreviousState?.Name, stopping?.CurrentState?.Name]).toEqual(["pending", "stopping"]);
  await customer.until("stopped", [id!]);

  const [starting] = (await customer.start(id!))!;
  expect([starting?.PreviousState?.Name, starting?.CurrentState?.Name]).toEqual(["stopped", "pending"]);
  expect(await customer.states([id!])).toEqual(["pending"]);
});

test("Start and Reboot of a pending instance are no-ops", async () => {
  const [id] = idsOf(await customer.launch());
  const [starting] = (await customer.start(id!))!;
  await customer.reboot(id!);
  expect([starting?.PreviousState?.Name, starting?.CurrentState?.Name]).toEqual(["pending", "pending"]);
  expect(await customer.states([id!])).toEqual(["pending"]);
});
