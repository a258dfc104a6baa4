// The verification that the seed asks for: three nodes, one of them full.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { PlainCaller } from "../support/plain-caller.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { nodesOf, startsFrom } from "../support/starts.ts";

/** Fits `full` alone, and takes all of its vCPUs. */
const FILLER = { type: "r5.2xlarge" };
const PLACES_LEFT = 10;

interface Outcome {
  ids: string[];
  code?: string | undefined;
  ms: number;
}

let stack: Stack;
let customer: Customer;
let plain: PlainCaller;

beforeAll(async () => {
  stack = await startStack({ nodes: "full=8x64,free-1=10x20,free-2=10x20", windows: TEST_WINDOWS });
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
  const filler = await customer.launch(1, FILLER);
  expect(await nodesOf(stack, idsOf(filler))).toEqual(["full"]);
});

async function callEc2(): Promise<Outcome> {
  const start = performance.now();
  try {
    return { ids: idsOf(await customer.launch()), ms: performance.now() - start };
  } catch (error) {
    const { code, ms } = await refusalOf(() => Promise.reject(error));
    return { ids: [], code, ms };
  }
}

/** What another node of the queue group was handed is undone and sent again. */
async function askFullNode(): Promise<Outcome> {
  for (;;) {
    const { coordinator, body, ms } = await plain.launch();
    const ids = (body.Instances ?? []).map(({ InstanceId }) => InstanceId);
    if (coordinator === "full") return { ids, code: body.Code, ms };
    if (ids.length === 0) continue;
    await customer.terminate(...ids);
    await customer.until("terminated", ids);
  }
}

describe.each([
  ["sent as EC2 calls, to the typed subject", callEc2],
  ["sent to the plain subject, at the full node", askFullNode],
])("%s", (_way, launch) => {
  test("ten launches all succeed on the other nodes", async () => {
    const starts = await startsFrom(customer);
    const outcomes: Outcome[] = [];
    for (let n = 0; n < PLACES_LEFT; n++) outcomes.push(await launch());

    expect(outcomes.filter(({ code }) => code)).toEqual([]);
    const ids = outcomes.flatMap((outcome) => outcome.ids);
    expect(new Set(ids).size).toBe(PLACES_LEFT);
    const half = PLACES_LEFT / 2;
    const nodes = [...Array(half).fill("free-1"), ...Array(half).fill("free-2")];
    expect((await nodesOf(stack, ids)).toSorted()).toEqual(nodes);
    expect(await starts.on("full")).toEqual([]);
  });

  test("when all nodes are full the next launch gets InsufficientInstanceCapacity within a second", async () => {
    await customer.launch(PLACES_LEFT);
    const starts = await startsFrom(customer);

    const { code, ms } = await launch();

    expect(code).toBe("InsufficientInstanceCapacity");
    expect(ms).toBeLessThan(1000);
    expect(await starts.all()).toEqual([]);
  });

  test("after an instance was stopped a launch succeeds on the node that freed the room", async () => {
    const [stopped] = idsOf(await customer.launch(PLACES_LEFT));
    await customer.stop(stopped!);
    await customer.until("stopped", [stopped!]);

    const { ids } = await launch();

    expect(await nodesOf(stack, ids)).toEqual(await nodesOf(stack, [stopped!]));
    expect((await launch()).code).toBe("InsufficientInstanceCapacity");
  });
});

test("the refusal reaches an EC2 client as a 503 that says how many were wanted", async () => {
  await customer.launch(PLACES_LEFT);

  const refusal = await refusalOf(() => customer.launch(2));

  expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
  expect(refusal.message).toContain("2 x t3.micro");
});

test("a request with no header of ours is refused in two keys", async () => {
  await customer.launch(PLACES_LEFT);
  const { body } = await plain.launch({ bare: true });
  expect(body).toEqual({ Code: "InsufficientInstanceCapacity", Message: null });
});
