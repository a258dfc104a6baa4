// The real local stack, for tests: its own processes, free ports, a folder that goes at the end.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Ready } from "../../infra/local/ready.ts";
import type { Windows } from "../../lib/windows.ts";
import { childrenOf } from "./processes.ts";

export interface StackOptions {
  /** A number, or `a=4x8,b=32x64`. */
  nodes?: number | string;
  /** A fleet file, instead of `nodes`. */
  fleet?: string;
  gateways?: number;
  sandboxes?: number;
  bootMs?: number;
  dynamodb?: string;
  /** Kept at the end; without it the stack has a folder of its own, which goes. */
  data?: string;
  /** For gateways and daemons alike. */
  windows?: Partial<Windows>;
  /** More flags, as typed. */
  flags?: readonly string[];
}

const MAIN = join(import.meta.dirname, "..", "..", "infra", "local", "main.mjs");

export interface Exit {
  /** `null` when a signal ended it. */
  code: number | null;
  ms: number;
}

/**
 * Starts a stack and waits until it is ready.
 * @throws Error with what it said on stderr when it ends instead
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { child, lines, stderr } = spawnStack(options);
  const first = await Promise.race([
    once(lines, "line").then(([line]) => line as string),
    once(child, "exit").then(() => undefined),
  ]);
  if (first === undefined) throw new Error(`the stack did not start:\n${stderr()}`);
  return new Stack(child, JSON.parse(first) as Ready, stderr);
}

/** The process alone, for tests of how it starts. */
export function spawnStack(options: StackOptions = {}) {
  const child = spawn(process.execPath, [MAIN, "--json", ...flagsOf(options)], {
    // The channel closes with this process, which ends the stack even when the test is killed.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...process.env,
      ...(options.windows ? { NIGHTPORTER_WINDOWS: JSON.stringify(options.windows) } : {}),
    },
  });
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return { child, lines: createInterface({ input: child.stdout! }), stderr: () => said };
}

function flagsOf({ nodes, fleet, gateways, sandboxes, bootMs, dynamodb, data, flags = [] }: StackOptions) {
  const given = { nodes, fleet, gateways, sandboxes, "boot-ms": bootMs, dynamodb, data };
  const typed = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return [...(flags.includes("--port") ? [] : ["--port", "0"]), ...typed, ...flags];
}

export class Stack {
  readonly ready: Ready;
  readonly #child: ChildProcess;
  readonly #stderr: () => string;

  constructor(child: ChildProcess, ready: Ready, stderr: () => string) {
    this.#child = child;
    this.ready = ready;
    this.#stderr = stderr;
  }

  /** Of the first gateway. */
  get url(): string {
    return this.ready.gateways[0]!.url;
  }

  get streamUrl(): string {
    return this.ready.gateways[0]!.streamUrl;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** All that it has said on stderr so far. */
  get stderr(): string {
    return this.#stderr();
  }

  nodePid(name: string): number {
    const node = this.ready.nodes.find((found) => found.name === name);
    if (!node)
      throw new Error(`no node ${name}; there are ${this.ready.nodes.map((n) => n.name).join(", ")}`);
    return node.pid;
  }

  /** Process ids of a gateway's sandboxes at this moment, of all functions or of one. */
  sandboxes(gateway = 0, fn?: string): number[] {
    return childrenOf(this.ready.gateways[gateway]!.pid)
      .filter(({ args }) => !fn || args.includes(`dist/functions/${fn}/`))
      .map(({ pid }) => pid);
  }

  /** Ids of the guests that a node has started since its data began, in order. */
  starts(node: string): string[] {
    const file = join(this.ready.data, "nodes", node, "starts");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }

  /** Of all nodes. */
  allStarts(): string[] {
    return this.ready.nodes.flatMap(({ name }) => this.starts(name));
  }

  /** Ends the stack as Ctrl-C would, or with another signal. Called again it is the same end. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    const start = performance.now();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, "exit");
      this.#child.kill(signal);
      await gone;
    }
    return { code: this.#child.exitCode, ms: performance.now() - start };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
