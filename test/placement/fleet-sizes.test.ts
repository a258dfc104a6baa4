// One full node among two, ten and fifty; every other node has one place.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { PlainCaller } from "../support/plain-caller.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { nodesOf, startsFrom } from "../support/starts.ts";

/** Fits `full` alone, and takes all of its vCPUs. */
const FILLER = { type: "r5.2xlarge" };

describe.each([1, 9, 49])("a full node is passed over when the other nodes are %i", (others) => {
  let stack: Stack;
  let customer: Customer;
  let plain: PlainCaller;

  beforeAll(async () => {
    const free = Array.from({ length: others }, (_, index) => `free-${index + 1}=2x2`);
    stack = await startStack({ nodes: ["full=8x64", ...free].join(",") });
    customer = new Customer(stack);
    plain = await PlainCaller.connect(stack);
  });

  afterAll(async () => {
    customer?.[Symbol.dispose]();
    await plain?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  beforeEach(async () => {
    await customer.leave();
    await customer.launch(1, FILLER);
  });

  test("each launch finds a node with room until there is none, which is said", async () => {
    const starts = await startsFrom(customer);
    const launched: string[] = [];
    for (let n = 0; n < others; n++) launched.push(...idsOf(await customer.launch()));

    const refusal = await refusalOf(() => customer.launch());

    expect((await starts.all()).toSorted()).toEqual(launched.toSorted());
    expect(await starts.counts()).toMatchObject({ full: 0, "free-1": 1, [`free-${others}`]: 1 });
    expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
  });

  test("one launch of as many instances as there are other nodes takes a place on each", async () => {
    const starts = await startsFrom(customer);

    const { Instances = [] } = await customer.launch(others);

    expect(Instances.map(({ AmiLaunchIndex }) => AmiLaunchIndex)).toEqual([...Array(others).keys()]);
    const counts = Object.values(await starts.counts());
    expect(counts).toEqual([0, ...Array(others).fill(1)]);
  });

  test("a full node that is handed a launch finds the last room in the fleet", async () => {
    const [last, ...rest] = idsOf(await customer.launch(others));
    const [lastNode] = await nodesOf(stack, [last!]);
    for (let coordinator = lastNode, id = last!; coordinator === lastNode; ) {
      await customer.terminate(id);
      await customer.until("terminated", [id]);
      const { body, ...answer } = await plain.launch();
      coordinator = answer.coordinator;
      [id] = (body.Instances ?? []).map(({ InstanceId }) => InstanceId) as [string];
      expect(body.Code).toBeUndefined();
      expect(await nodesOf(stack, [id])).toEqual([lastNode]);
    }
    expect(await customer.states(rest)).toEqual(rest.map(() => "running"));
  });
});
