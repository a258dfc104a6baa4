// Sandboxes of the EC2 function, started ahead and held back, for tests in which each call must have its own.

import { readFileSync } from "node:fs";
import type { Customer } from "./customer.ts";
import { eventually } from "./eventually.ts";
import { isAsleep } from "./processes.ts";
import type { Stack } from "./stack.ts";

const EC2 = "ec2";
/** Started at a time: with many more on two busy cores none is up within the ten seconds that Lambda gives a start. */
const STARTING_AT_A_TIME = 4;
const START_MS = 30_000;

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // Ended meanwhile, as one does that was frozen for longer than its function may take.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

export const freeze = (pids: readonly number[]): void => signal(pids, "SIGSTOP");
export const thaw = (pids: readonly number[]): void => signal(pids, "SIGCONT");

/** Starts sandboxes of the first gateway until there are `count`. @returns their process ids */
export async function warmSandboxes(stack: Stack, customer: Customer, count: number): Promise<number[]> {
  for (;;) {
    const standing = stack.sandboxes(0, EC2);
    if (standing.length >= count) return standing;
    const more = Math.min(STARTING_AT_A_TIME, count - standing.length);
    let over = 0;
    // A frozen one takes its call and keeps it, so the others need sandboxes of their own.
    freeze(standing);
    const calls = Array.from({ length: standing.length + more }, () =>
      customer
        .regions()
        // One that took too long to start is made again in the next round.
        .catch(() => {})
        .finally(() => over++),
    );
    await eventually(`${more} more sandboxes`, () => over >= more, START_MS);
    thaw(standing);
    await Promise.all(calls);
  }
}

/**
 * Makes the calls while all sandboxes are frozen, and thaws those when each call has been handed to one.
 * @param make begins all calls
 */
export async function releaseAtOnce<T>(
  stack: Stack,
  customer: Customer,
  make: () => Promise<T>[],
): Promise<Promise<T>[]> {
  const standing = stack.sandboxes(0, EC2);
  const parts = [stack.ready.gateways[0]!.pid, ...standing];
  // One that has only just answered is not free yet.
  await eventually("all sandboxes are idle", () => parts.every(isAsleep), START_MS);
  freeze(standing);
  const calls = make();
  // Whoever made them looks at how they end; until then a refusal is no error.
  for (const call of calls) call.catch(() => {});
  await eventually("all calls are on their way", () => customer.waiting === calls.length);
  // One front serves all routes in turn: when it has answered this, it has handed out what came before.
  await fetch(`${stack.url}/health`);
  thaw(standing);
  return calls;
}

/** Which sandboxes have served an action, one entry a call, by the log. */
export function servedBy(stack: Stack, action: string): string[] {
  return readFileSync(stack.ready.log, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"action":"${action}"`))
    .map((line) => line.split(" ")[1]!);
}
