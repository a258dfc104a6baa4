import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Ready } from "../../infra/local/ready.ts";
import { eventually } from "../support/eventually.ts";
import { childrenOf, isAlive } from "../support/processes.ts";
import { type Stack, spawnStack, startStack } from "../support/stack.ts";

/** What README promises of Ctrl-C. */
const STOP_MS = 3000;

function partsOf(stack: Stack): number[] {
  const { gateways, nodes, nats, dynamodb } = stack.ready;
  const named = [...gateways, ...nodes, nats].map(({ pid }) => pid);
  // Its children that are not named, such as the guard, count too.
  const children = childrenOf(stack.pid).map(({ pid }) => pid);
  return [...new Set([...named, dynamodb.pid!, ...children, ...stack.sandboxes()])];
}

const portsOf = ({ gateways, nats, dynamodb }: Ready): number[] =>
  [...gateways.flatMap(({ url, streamUrl }) => [url, streamUrl]), nats.url, nats.tcpUrl, dynamodb.url].map(
    (url) => Number(new URL(url).port),
  );

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
    socket.unref();
  });

async function expectNothingLeft(stack: Stack, parts: number[]): Promise<void> {
  await eventually("every process has ended", () => !parts.some(isAlive));
  await eventually("its folder is gone", () => !existsSync(stack.ready.data));
  expect(await Promise.all(portsOf(stack.ready).map(answers))).not.toContain(true);
}

test("Ctrl-C, even twice, ends every process, frees every port and removes the folder", async () => {
  const stack = await startStack({ nodes: 2, gateways: 2 });
  const parts = partsOf(stack);
  expect(parts.length).toBeGreaterThan(8);

  process.kill(stack.pid, "SIGINT");
  const { code, ms } = await stack.stop("SIGINT");

  expect(code).toBe(0);
  expect(ms).toBeLessThan(STOP_MS);
  await expectNothingLeft(stack, parts);
});

test("Ctrl-C ends what is frozen too", async () => {
  const stack = await startStack({ nodes: 2 });
  const parts = partsOf(stack);
  const frozen = [
    stack.nodePid("node-1"),
    stack.ready.gateways[0]!.pid,
    ...stack.sandboxes(),
    stack.ready.nats.pid,
  ];
  for (const pid of frozen) process.kill(pid, "SIGSTOP");

  const { code, ms } = await stack.stop();

  expect(code).toBe(0);
  expect(ms).toBeLessThan(STOP_MS);
  await expectNothingLeft(stack, parts);
});

test("when the stack itself is killed nothing outlives it, frozen sandboxes included", async () => {
  const stack = await startStack({ nodes: 2 });
  const parts = partsOf(stack);
  for (const pid of [...stack.sandboxes(), stack.nodePid("node-2")]) process.kill(pid, "SIGSTOP");

  await stack.stop("SIGKILL");

  await expectNothingLeft(stack, parts);
});

test("a gateway that is killed takes its sandboxes with it, and is missed by name", async () => {
  await using stack = await startStack({ nodes: 1, gateways: 2 });
  const [frozen, ...others] = stack.sandboxes(0);
  process.kill(frozen!, "SIGSTOP");

  process.kill(stack.ready.gateways[0]!.pid, "SIGKILL");

  await eventually("its sandboxes are gone", () => ![frozen!, ...others].some(isAlive));
  await eventually("it is missed", () => stack.stderr.includes("gateway-1 (pid"));
  expect(stack.stderr).toMatch(/gateway-1 \(pid \d+\) died by itself: SIGKILL/);
  expect((await fetch(`${stack.ready.gateways[1]!.url}/health`)).status).toBe(200);
});

test("a daemon that is killed is missed by name, with its last words, and stays away", async () => {
  await using stack = await startStack({ nodes: 2 });

  process.kill(stack.nodePid("node-2"), "SIGKILL");

  await eventually("it is missed", () => stack.stderr.includes("node-2 (pid"));
  expect(stack.stderr).toMatch(/node-2 \(pid \d+\) died by itself: SIGKILL; its last lines:\n {2}\{/);
  expect((await stack.stop()).code).toBe(0);
});

test("Ctrl-C while it starts leaves nothing", async () => {
  const { child, stderr } = spawnStack({ nodes: 3 });
  await eventually("daemons are starting", () => stderr().includes("Starting 3 daemons"));
  const parts = childrenOf(child.pid!).map(({ pid }) => pid);

  child.kill("SIGTERM");
  const code = await new Promise((resolve) => child.once("exit", resolve));

  expect(code).toBe(0);
  await eventually("every process has ended", () => !parts.some(isAlive));
});

test("a gateway port that is taken is named in one sentence", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await eventually("it listens", () => other.listening);
  const { port } = other.address() as { port: number };

  const { child, stderr } = spawnStack({ flags: ["--port", String(port)] });
  const code = await new Promise((resolve) => child.once("close", resolve));
  other.close();

  expect(code).toBe(1);
  expect(stderr()).toMatch(new RegExp(`^nightporter: port ${port} is taken .* --port P\\n$`));
});

test("a folder serves one stack at a time, and keeps its table for the next", async () => {
  const { mkdtempSync, rmSync } = await import("node:fs");
  const data = mkdtempSync("/tmp/nightporter-test-");
  try {
    await using first = await startStack({ nodes: 1, data });
    await expect(startStack({ nodes: 1, data })).rejects.toThrow(`in use by the stack with pid ${first.pid}`);
    await first.stop();

    await using second = await startStack({ nodes: 1, data });
    expect(second.ready.data).toBe(data);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
