// What may be said of instances while a node that is known keeps silent.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/processes.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { nodesOf } from "../support/starts.ts";

const UNKNOWN = "i-00000000000000001";

let stack: Stack;
let customer: Customer;
/** One instance on each node, by the node's name. */
let on: Record<"live" | "other", string>;

beforeAll(async () => {
  stack = await startStack({ nodes: "live=2x4,other=2x4", windows: TEST_WINDOWS });
  customer = new Customer(stack);
  const ids = idsOf(await customer.launch(2));
  const nodes = await nodesOf(stack, ids);
  on = Object.fromEntries(nodes.map((node, index) => [node, ids[index]])) as typeof on;
});

afterAll(async () => {
  customer?.[Symbol.dispose]();
  await stack?.stop();
});

const CALLS = [
  ["DescribeInstances", (id: string) => customer.instances([on.live, id])],
  ["StopInstances", (id: string) => customer.stop(on.live, id)],
  ["TerminateInstances", (id: string) => customer.terminate(on.live, id)],
] as const;

test.each(CALLS)(
  "%s of an unknown id is NotFound when every known node has answered",
  async (_name, call) => {
    expect(await refusalOf(() => call(UNKNOWN))).toMatchObject({
      code: "InvalidInstanceID.NotFound",
      message: `The instance ID '${UNKNOWN}' does not exist`,
    });
  },
);

const signal = (name: NodeJS.Signals): boolean => process.kill(stack.nodePid("other"), name);

async function kill(): Promise<void> {
  if (isAlive(stack.nodePid("other"))) signal("SIGKILL");
  await eventually("it is gone", () => !isAlive(stack.nodePid("other")));
}

const MOODS: [how: string, begin: () => Promise<unknown>, end: () => Promise<unknown>][] = [
  ["is frozen", async () => signal("SIGSTOP"), async () => signal("SIGCONT")],
  // The last ones: it does not come back.
  ["is dead", kill, async () => {}],
];

describe.each(MOODS)("while a known node %s", (_how, silence, end) => {
  afterEach(end);

  test("DescribeInstances without ids shows what the live nodes hold", async () => {
    await silence();
    expect((await customer.instances()).map(({ InstanceId }) => InstanceId)).toEqual([on.live]);
  });

  test("an instance of a live node is found by its id", async () => {
    await silence();
    expect(await customer.states([on.live])).toEqual(["running"]);
  });

  test.each(CALLS)(
    "%s of an id that is not found is ServiceUnavailable, not NotFound",
    async (_name, call) => {
      await silence();
      for (const id of [UNKNOWN, on.other]) {
        const refusal = await refusalOf(() => call(id));
        expect(refusal).toMatchObject({ code: "ServiceUnavailable", status: 503 });
        expect(refusal.message).toContain(id);
        expect(refusal.message).toContain("other");
      }
      expect(await customer.states([on.live])).toEqual(["running"]);
    },
  );
});
