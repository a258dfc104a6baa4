// Launches while nodes of the fleet are dead, frozen or were never there, and while no node lives at all.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { eventually } from "../support/eventually.ts";
import { PlainCaller } from "../support/plain-caller.ts";
import { isAlive } from "../support/processes.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { nodesOf, startsFrom } from "../support/starts.ts";

const TOO_LARGE = { type: "m5.4xlarge" };

describe("one node is full and", () => {
  /** Fits `full` alone, and takes all of its vCPUs. */
  const FILLER = { type: "r5.2xlarge" };
  let stack: Stack;
  let customer: Customer;
  let plain: PlainCaller;

  beforeAll(async () => {
    stack = await startStack({ nodes: "full=8x64,free=6x20,cold=6x20,dead=6x20", windows: TEST_WINDOWS });
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

  describe("one is frozen (SIGSTOP)", () => {
    beforeEach(() => void process.kill(stack.nodePid("cold"), "SIGSTOP"));
    afterEach(() => void process.kill(stack.nodePid("cold"), "SIGCONT"));

    test("launches succeed on the others", async () => {
      const launched = [await customer.launch(), await customer.launch(), await customer.launch(1)];
      for (const node of await nodesOf(stack, idsOf(...launched))) expect(["free", "dead"]).toContain(node);
    });

    test("a launch that needs several nodes spans the others", async () => {
      const nodes = await nodesOf(stack, idsOf(await customer.launch([4, 6])));
      expect([nodes.length, new Set(nodes)]).toEqual([6, new Set(["free", "dead"])]);
    });

    test("when the others are full the launch is refused and does not hang", async () => {
      await customer.launch(6);
      const { code, ms } = await refusalOf(() => customer.launch());
      expect(code).toBe("InsufficientInstanceCapacity");
      expect(ms).toBeLessThan(TEST_WINDOWS.budgetMs!);
    });

    test("a type larger than any other is InsufficientInstanceCapacity: the frozen one has not answered", async () => {
      const refusal = await refusalOf(() => customer.launch(1, TOO_LARGE));
      expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
    });

    test("it thaws, launches nothing that was asked meanwhile, and takes what is asked then", async () => {
      const starts = await startsFrom(customer);
      await customer.launch(6);
      process.kill(stack.nodePid("cold"), "SIGCONT");

      const later = idsOf(await customer.launch(3));

      expect((await starts.on("cold")).toSorted()).toEqual(later.toSorted());
    });
  });

  describe("one is dead (kill -9)", () => {
    const alive = () => isAlive(stack.nodePid("dead"));

    beforeEach(() => void (alive() && process.kill(stack.nodePid("dead"), "SIGKILL")));

    test("launches succeed on the others until those are full", async () => {
      const starts = await startsFrom(customer);
      for (let n = 0; n < 6; n++) await customer.launch();

      const { code, ms } = await refusalOf(() => customer.launch());

      expect(code).toBe("InsufficientInstanceCapacity");
      expect(ms).toBeLessThan(1000);
      expect(await starts.counts()).toEqual({ full: 0, free: 3, cold: 3, dead: 0 });
    });

    test("a launch that needs several nodes spans the others", async () => {
      const starts = await startsFrom(customer);
      expect(idsOf(await customer.launch(6))).toHaveLength(6);
      expect(await starts.counts()).toEqual({ full: 0, free: 3, cold: 3, dead: 0 });
    });

    test("plain requests, whichever node gets them, succeed too", async () => {
      const answers = [];
      for (let n = 0; n < 6; n++) answers.push(await plain.launch());
      expect(answers.map(({ body }) => body.Code ?? "launched")).toEqual(Array(6).fill("launched"));
      expect((await plain.launch()).body.Code).toBe("InsufficientInstanceCapacity");
    });

    test("a type larger than any other is InsufficientInstanceCapacity: the dead one may be larger", async () => {
      await eventually("the node is gone", () => !alive());
      const refusal = await refusalOf(() => customer.launch(1, TOO_LARGE));
      expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
    });
  });
});

describe("expectedNodes is larger than what lives", () => {
  const folder = mkdtempSync(join(tmpdir(), "nightporter-fleet-"));
  let stack: Stack;
  let customer: Customer;

  beforeAll(async () => {
    const fleet = join(folder, "fleet.yaml");
    writeFileSync(
      fleet,
      "fleet: lab\nexpectedNodes: 4\nnodes:\n  - { name: a, size: 4x8 }\n  - { name: b, size: 6x8 }\n",
    );
    stack = await startStack({ fleet, windows: TEST_WINDOWS });
    customer = new Customer(stack);
  });

  afterAll(async () => {
    customer?.[Symbol.dispose]();
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  beforeEach(() => customer.leave());

  test("launches succeed until all nodes are full, and the next one is refused within a second", async () => {
    const starts = await startsFrom(customer);
    for (let n = 0; n < 5; n++) await customer.launch();

    const { code, ms } = await refusalOf(() => customer.launch());

    expect(await starts.counts()).toEqual({ a: 2, b: 3 });
    expect(code).toBe("InsufficientInstanceCapacity");
    expect(ms).toBeLessThan(1000);
  });

  test("a type larger than any that lives is InsufficientInstanceCapacity, since not all have answered", async () => {
    const refusal = await refusalOf(() => customer.launch(1, TOO_LARGE));
    expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
  });

  // The last one: nobody is left after it.
  test("with no daemon connected every call that needs one is ServiceUnavailable within a second", async () => {
    for (const { pid } of stack.ready.nodes) process.kill(pid, "SIGKILL");
    await eventually("all are gone", () => stack.ready.nodes.every(({ pid }) => !isAlive(pid)));

    const refusals = [await refusalOf(() => customer.launch()), await refusalOf(() => customer.instances())];

    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: "ServiceUnavailable", status: 503 });
      expect(refusal.ms).toBeLessThan(1000);
    }
  });
});
