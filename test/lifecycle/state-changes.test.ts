// Stop, Start, Reboot and Terminate: what each does in each state, and what it leaves alone.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TEST_WINDOWS } from "../support/cluster.ts";
import { Customer, idsOf, refusalOf } from "../support/customer.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { nodesOf } from "../support/starts.ts";

const BOOT_MS = 50;
const UNKNOWN = ["i-00000000000000001", "i-00000000000000002"] as const;

const CODES = { pending: 0, running: 16, "shutting-down": 32, terminated: 48, stopping: 64, stopped: 80 };
type State = keyof typeof CODES;

let stack: Stack;
let customer: Customer;

beforeAll(async () => {
  stack = await startStack({ nodes: "a=4x8,b=4x8", bootMs: BOOT_MS, windows: TEST_WINDOWS });
  customer = new Customer(stack);
});

afterAll(async () => {
  customer?.[Symbol.dispose]();
  await stack?.stop();
});

beforeEach(() => customer.leave());

async function running(count: number): Promise<string[]> {
  const ids = idsOf(await customer.launch(count));
  await customer.until("running", ids);
  return ids;
}

async function inState(state: State): Promise<string> {
  const [id] = await running(1);
  if (state === "stopped") await customer.stop(id!);
  if (state === "terminated") await customer.terminate(id!);
  await customer.until(state, [id!]);
  return id!;
}

const move = (InstanceId: string, from: State, to: State) => ({
  InstanceId,
  PreviousState: { Code: CODES[from], Name: from },
  CurrentState: { Code: CODES[to], Name: to },
});

describe("a life", () => {
  test("a launch is answered as pending, and runs when its guest has booted", async () => {
    const launched = await customer.launch(2);

    expect(launched.Instances?.map(({ State }) => State)).toEqual(
      Array(2).fill({ Code: 0, Name: "pending" }),
    );
    await customer.until("running", idsOf(launched));
  });

  test("Stop takes a running instance to stopped, and says who asked for it", async () => {
    const [id] = await running(1);

    expect(await customer.stop(id!)).toEqual([move(id!, "running", "stopping")]);

    await customer.until("stopped", [id!]);
    const [stopped] = await customer.instances([id!]);
    expect(stopped?.StateReason?.Code).toBe("Client.UserInitiatedShutdown");
    expect(stopped?.StateTransitionReason).toMatch(/^User initiated \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\)$/);
  });

  test("Start takes a stopped instance through pending to running, on the node that holds it", async () => {
    const id = await inState("stopped");

    expect(await customer.start(id)).toEqual([move(id, "stopped", "pending")]);

    await customer.until("running", [id]);
    const [node] = await nodesOf(stack, [id]);
    expect(stack.starts(node!).filter((found) => found === id)).toHaveLength(2);
  });

  test("Reboot leaves a running instance running", async () => {
    const [id] = await running(1);
    await customer.reboot(id!);
    expect(await customer.states([id!])).toEqual(["running"]);
  });

  // Nothing of a stopped instance is left to shut down.
  test.each([
    ["running", "shutting-down"],
    ["stopped", "terminated"],
  ] as const)("Terminate ends a %s instance, which stays to be seen", async (state, next) => {
    const id = await inState(state);

    expect(await customer.terminate(id)).toEqual([move(id, state, next)]);

    await customer.until("terminated", [id]);
    expect((await customer.instances()).map(({ InstanceId }) => InstanceId)).toContain(id);
  });

  test("one call changes instances on several nodes, and answers in the order in which they were named", async () => {
    const ids = (await running(4)).toReversed();
    expect(new Set(await nodesOf(stack, ids))).toEqual(new Set(["a", "b"]));

    expect(await customer.stop(...ids)).toEqual(ids.map((id) => move(id, "running", "stopping")));

    await customer.until("stopped", ids);
  });
});

describe("what is so already is no error", () => {
  test.each([
    ["Stop on stopped", "stopped", (id: string) => customer.stop(id)],
    ["Start on running", "running", (id: string) => customer.start(id)],
    ["Terminate on terminated", "terminated", (id: string) => customer.terminate(id)],
  ] as const)("%s is a no-op", async (_name, state, change) => {
    const id = await inState(state);
    const before = await customer.instances([id]);

    expect(await change(id)).toEqual([move(id, state, state)]);

    expect(await customer.instances([id])).toEqual(before);
  });
});

describe("what cannot be is IncorrectInstanceState, and changes nothing", () => {
  test.each([
    ["Start on terminated", "terminated", (...ids: string[]) => customer.start(...ids)],
    ["Stop on terminated", "terminated", (...ids: string[]) => customer.stop(...ids)],
    ["Reboot on terminated", "terminated", (...ids: string[]) => customer.reboot(...ids)],
    ["Reboot on stopped", "stopped", (...ids: string[]) => customer.reboot(...ids)],
  ] as const)("%s", async (_name, state, change) => {
    const id = await inState(state);
    const other = await inState("stopped");
    const before = await customer.instances([id, other]);

    const refusal = await refusalOf(() => change(other, id));

    expect(refusal).toMatchObject({ code: "IncorrectInstanceState", status: 400 });
    expect(refusal.message).toContain(id);
    expect(await customer.instances([id, other])).toEqual(before);
  });
});

describe("unknown ids are InvalidInstanceID.NotFound, which names all of them and changes nothing", () => {
  const CHANGES = [
    ["Start", "stopped", (...ids: string[]) => customer.start(...ids)],
    ["Stop", "running", (...ids: string[]) => customer.stop(...ids)],
    ["Reboot", "running", (...ids: string[]) => customer.reboot(...ids)],
    ["Terminate", "running", (...ids: string[]) => customer.terminate(...ids)],
    ["Describe", "running", (...ids: string[]) => customer.instances(ids)],
  ] as const;

  test.each(CHANGES)("%s", async (_name, state, change) => {
    const known = await inState(state);
    const before = await customer.instances();

    const refusal = await refusalOf(() => change(UNKNOWN[0], known, UNKNOWN[1]));

    expect(refusal).toMatchObject({ code: "InvalidInstanceID.NotFound", status: 400 });
    expect(refusal.message).toBe(`The instance IDs '${UNKNOWN.join(", ")}' do not exist`);
    expect(await customer.instances()).toEqual(before);
  });
});

describe("room", () => {
  test("a stopped instance gives its room back, and cannot start while another has it", async () => {
    const [stopped] = await running(4);
    await customer.stop(stopped!);
    await customer.until("stopped", [stopped!]);
    const [newcomer] = idsOf(await customer.launch());
    expect(await nodesOf(stack, [newcomer!])).toEqual(await nodesOf(stack, [stopped!]));

    const refusal = await refusalOf(() => customer.start(stopped!));

    expect(refusal).toMatchObject({ code: "InsufficientInstanceCapacity", status: 503 });
    expect(await customer.states([stopped!])).toEqual(["stopped"]);
    await customer.terminate(newcomer!);
    await customer.until("terminated", [newcomer!]);
    await customer.start(stopped!);
    await customer.until("running", [stopped!]);
  });

  test("a stopped instance that is terminated gives no room back twice", async () => {
    const [stopped] = await running(4);
    await customer.stop(stopped!);
    await customer.until("stopped", [stopped!]);
    await customer.terminate(stopped!);
    await customer.until("terminated", [stopped!]);

    await customer.launch();

    expect((await refusalOf(() => customer.launch())).code).toBe("InsufficientInstanceCapacity");
  });
});
