// Launches of more than one instance, and launches that race, on rooms of two, two and one.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, outcomesOf, refusalOf } from "../support/customer.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startsFrom } from "../support/starts.ts";

/** Takes the whole of `one`, and fits nowhere else. */
const FILLER_OF_ONE = { type: "r5.large" };
const ROUNDS = 5;

let stack: Stack;
let customer: Customer;

beforeAll(async () => {
  stack = await startStack({ nodes: "two-a=4x8,two-b=4x8,one=2x16", windows: TEST_WINDOWS });
  customer = new Customer(stack);
});

afterAll(async () => {
  customer?.[Symbol.dispose]();
  await stack?.stop();
});

beforeEach(() => customer.leave());

test("MinCount=5 with rooms 2+2+1 is one reservation of five with launch indexes 0 to 4", async () => {
  const starts = await startsFrom(customer);

  const reservation = await customer.launch(5);

  expect(reservation.Instances?.map(({ AmiLaunchIndex }) => AmiLaunchIndex)).toEqual([0, 1, 2, 3, 4]);
  expect(await starts.counts()).toEqual({ "two-a": 2, "two-b": 2, one: 1 });
  expect((await starts.all()).toSorted()).toEqual(idsOf(reservation).toSorted());
});

test("DescribeInstances shows a launch that spans nodes as one reservation", async () => {
  const launched = await customer.launch(5);

  const shown = await customer.reservations(idsOf(launched));

  expect(shown.map(({ ReservationId }) => ReservationId)).toEqual([launched.ReservationId]);
  const indexes = new Map(shown[0]?.Instances?.map((one) => [one.AmiLaunchIndex, one.InstanceId]));
  expect([0, 1, 2, 3, 4].map((index) => indexes.get(index))).toEqual(idsOf(launched));
});

test("MinCount=6 there fails and no node ever started a guest for it", async () => {
  const starts = await startsFrom(customer);

  const refusal = await refusalOf(() => customer.launch(6));

  expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
  expect(refusal.ms).toBeLessThan(1000);
  expect(await starts.all()).toEqual([]);
  // Nor is anything left set aside: all of the room can be had at once.
  expect(idsOf(await customer.launch(5))).toHaveLength(5);
});

test("MinCount=1, MaxCount=10 with room for 5 gives 5", async () => {
  const starts = await startsFrom(customer);

  const { Instances = [] } = await customer.launch([1, 10]);

  expect(Instances.map(({ AmiLaunchIndex }) => AmiLaunchIndex)).toEqual([0, 1, 2, 3, 4]);
  expect(await starts.counts()).toEqual({ "two-a": 2, "two-b": 2, one: 1 });
});

describe("launches that race", () => {
  test("two for the last place: exactly one wins", async () => {
    await customer.launch(4);
    for (let round = 0; round < ROUNDS; round++) {
      const starts = await startsFrom(customer);
      const { launched, refused } = await outcomesOf([customer.launch(), customer.launch()]);

      expect(refused).toMatchObject([{ code: "InsufficientInstanceCapacity" }]);
      expect(await starts.all()).toEqual(idsOf(...launched));
      await customer.terminate(...idsOf(...launched));
      await customer.until("terminated", idsOf(...launched));
    }
  });

  test("two of 3 on rooms 2+2: one succeeds", async () => {
    const [filler] = idsOf(await customer.launch(1, FILLER_OF_ONE));
    for (let round = 0; round < ROUNDS; round++) {
      const starts = await startsFrom(customer);
      const { launched, refused } = await outcomesOf([customer.launch(3), customer.launch(3)]);

      expect(refused).toMatchObject([{ code: "InsufficientInstanceCapacity" }]);
      const ids = idsOf(...launched);
      expect((await starts.all()).toSorted()).toEqual(ids.toSorted());
      expect(ids).toHaveLength(3);
      await customer.terminate(...ids);
      await customer.until("terminated", ids);
    }
    expect(await customer.states([filler!])).toEqual(["running"]);
  });

  test("one that stops and one that launches never have the same place", async () => {
    const standing = idsOf(await customer.launch(5));
    await customer.stop(standing[0]!);
    await customer.until("stopped", [standing[0]!]);

    const outcomes = await Promise.allSettled([customer.start(standing[0]!), customer.launch()]);

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { name: "InsufficientInstanceCapacity" },
    });
  });
});

describe("what no node can ever take", () => {
  test("a type larger than any node is Unsupported, since every expected node has said so", async () => {
    const refusal = await refusalOf(() => customer.launch(1, { type: "m5.4xlarge" }));
    expect(refusal).toMatchObject({ code: "Unsupported", status: 400 });
    expect(refusal.message).toContain("m5.4xlarge");
  });

  test("an image that no node has is InvalidAMIID.NotFound", async () => {
    const ImageId = "ami-0000000000000000b";
    const refusal = await refusalOf(() => customer.launch(1, { ImageId }));
    expect(refusal).toMatchObject({ code: "InvalidAMIID.NotFound", status: 400 });
    expect(refusal.message).toBe(`The image id '[${ImageId}]' does not exist`);
  });

  test("a type that only a full node could take is InsufficientInstanceCapacity", async () => {
    await customer.launch(1, FILLER_OF_ONE);
    const refusal = await refusalOf(() => customer.launch(1, FILLER_OF_ONE));
    expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
  });
});
