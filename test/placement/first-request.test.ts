// The first request after what a sandbox does not notice: being frozen, and a nats-server that is another one.

import type { EC2ServiceException } from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createBus } from "../../lib/bus.ts";
import { readWindows } from "../../lib/windows.ts";
import { Customer, idsOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { NatsServer } from "../support/nats-server.ts";
import { freeze, thaw } from "../support/sandboxes.ts";
import { type Stack, startStack } from "../support/stack.ts";

const ASK_MS = 500;
const THROTTLED = 429;

let stack: Stack;
let customer: Customer;
let nats: NatsServer;

beforeAll(async () => {
  // One sandbox, so that the one which was frozen is the one which answers.
  stack = await startStack({ nodes: "a=8x16,b=8x16", sandboxes: 1 });
  customer = new Customer(stack);
  nats = new NatsServer(stack);
});

afterAll(async () => {
  customer?.[Symbol.dispose]();
  await stack?.stop();
  await nats?.[Symbol.asyncDispose]();
});

beforeEach(() => whenFree(() => customer.leave()));

/** The sandbox is free again only a moment after its answer; until then the front turns calls away, as Lambda does. */
async function whenFree<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if ((error as EC2ServiceException).$metadata?.httpStatusCode !== THROTTLED) throw error;
    }
  }
}

/** Asked past the sandbox, which must not notice anything before its first request. */
async function untilTheNodesAreBack(): Promise<void> {
  const { url, user, password } = stack.ready.nats;
  const bus = createBus({ url, user, password }, readWindows(undefined), () => {});
  await eventually("the nodes are back", async () => {
    const exchange = await bus.exchange();
    const asked = await Promise.all(
      stack.ready.nodes.map(({ name }) => exchange.ask(name, "status", {}, ASK_MS)),
    );
    return asked.every(({ outcome }) => outcome === "answered");
  });
  await bus.close();
}

const sandbox = (): number[] => stack.sandboxes(0, "ec2");

test("a sandbox that was frozen answers its first request", async () => {
  const standing = sandbox();
  freeze(standing);
  const call = whenFree(() => customer.launch());
  await eventually("the request is on its way", () => customer.waiting === 1);
  thaw(standing);

  expect(idsOf(await call)).toHaveLength(1);
  expect(sandbox()).toEqual(standing);
});

test("the first launch after a NATS restart succeeds", async () => {
  const standing = sandbox();
  await nats.restart();
  await untilTheNodesAreBack();

  expect(idsOf(await whenFree(() => customer.launch()))).toHaveLength(1);
  expect(sandbox()).toEqual(standing);
});

test("the first DescribeInstances after a NATS restart shows what the nodes hold", async () => {
  const launched = idsOf(await whenFree(() => customer.launch(3)));
  await nats.restart();
  await untilTheNodesAreBack();

  expect(await whenFree(() => customer.states(launched))).toEqual(["running", "running", "running"]);
});

test("the first launch after a NATS restart succeeds in a sandbox that was frozen meanwhile", async () => {
  const standing = sandbox();
  freeze(standing);
  await nats.restart();
  await untilTheNodesAreBack();
  const call = whenFree(() => customer.launch());
  await eventually("the request is on its way", () => customer.waiting === 1);
  thaw(standing);

  expect(idsOf(await call)).toHaveLength(1);
  expect(sandbox()).toEqual(standing);
});
