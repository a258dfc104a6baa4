// From the command line to a stack that runs until it is told to end.

import { readWindows } from "../../lib/windows.ts";
import { FlagError, helpText, type Options, readFlags } from "./flags.ts";
import { banner, type Ready } from "./ready.ts";
import type { Stack } from "./stack.ts";

/** What the shell is told of flags that cannot be obeyed. */
const BAD_USAGE = 2;

const END_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function run(argv: readonly string[]): Promise<void> {
  const began = performance.now();
  let options: Options | "help";
  try {
    options = readFlags(argv);
    readWindows(process.env.NIGHTPORTER_WINDOWS);
  } catch (error) {
    return fail(error);
  }
  if (options === "help") return console.log(helpText());
  let stack: Stack;
  try {
    // Only now: it loads esbuild and the AWS client, and a mistyped flag should be told at once.
    const { Stack } = await import("./stack.ts");
    stack = new Stack(options);
  } catch (error) {
    return fail(error);
  }
  const end = () => stack.stop().then(() => process.exit(0));
  // Ctrl-C reaches this process from the terminal and from npm, so signals come twice.
  for (const signal of END_SIGNALS) process.on(signal, end);
  // Only a test opens a channel; it closes when the test dies.
  process.once("disconnect", end);
  try {
    const ready = await stack.start();
    announce(ready, options.json, performance.now() - began);
  } catch (error) {
    if (stack.stopping) return;
    await stack.stop();
    fail(error);
  }
}

function announce(ready: Ready, json: boolean, tookMs: number): void {
  process.stdout.write(`${json ? JSON.stringify(ready) : banner(ready, tookMs)}\n`);
}

function fail(error: unknown): never {
  console.error(`nightporter: ${(error as Error).message}`);
  process.exit(error instanceof FlagError ? BAD_USAGE : 1);
}
