// A process that the stack started: named, logged, watched by the guard, and missed when it dies by itself.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Guard } from "./guard.ts";
import type { Journal, Stream } from "./journal.ts";

export interface PartOptions {
  name: string;
  /** `peer`: what the product speaks through or keeps its state in. */
  role: "product" | "peer";
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Messages of a process of ours; opens the channel they come by. */
  onMessage?: (message: unknown) => void;
}

const LAST_WORDS_MS = 100;

/** What all parts of a stack share. */
export interface House {
  guard: Guard;
  journal: Journal;
  /** All that were started. */
  parts: Part[];
  /** Set when the stack is ending: nothing more is started. */
  closed: boolean;
}

export class Part {
  readonly name: string;
  readonly role: PartOptions["role"];
  readonly pid: number;
  /** Settles when the process is gone, with how it went: `exit 1`, `SIGKILL`. */
  readonly gone: Promise<string>;
  readonly #child: ChildProcess;
  #how: string | undefined;
  #wanted = true;

  private constructor({ name, role }: PartOptions, child: ChildProcess, house: House) {
    this.name = name;
    this.role = role;
    this.pid = child.pid!;
    this.#child = child;
    this.gone = new Promise((resolve) => {
      child.once("exit", async (code, signal) => {
        this.#how = signal ?? `exit ${code}`;
        house.guard.forget(this.pid);
        // Its last lines may still be on their way; what it started itself may hold the pipe open for ever.
        await Promise.race([once(child, "close"), delay(LAST_WORDS_MS)]);
        if (this.#wanted) this.#miss(house.journal);
        resolve(this.#how);
      });
    });
  }

  /** @throws Error when the command cannot be run at all */
  static async start(options: PartOptions, house: House): Promise<Part> {
    const { name, command, args, env, cwd, onMessage } = options;
    if (house.closed) throw new Error(`${name} is not started: the stack is ending`);
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      ...(cwd ? { cwd } : {}),
      // A process group of its own, so that Ctrl-C reaches only the stack, which ends its parts in order.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(onMessage ? ["ipc" as const] : [])],
    });
    if (child.pid) house.guard.watch(child.pid);
    if (onMessage) child.on("message", onMessage);
    for (const stream of ["stdout", "stderr"] satisfies Stream[]) {
      const lines = createInterface({ input: child[stream]! });
      lines.on("line", (line) => house.journal.write(name, stream, line));
    }
    if (!child.pid) {
      const [error] = await once(child, "error");
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`${name} does not start: ${code === "ENOENT" ? `${command} is not on PATH` : message}`);
    }
    const part = new Part(options, child, house);
    house.parts.push(part);
    return part;
  }

  get alive(): boolean {
    return this.#how === undefined;
  }

  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** From now on its end is no news. */
  letGo(): void {
    this.#wanted = false;
  }

  /** Asks it to end, and after `graceMs` ends it. A stopped process cannot hear the asking. */
  async stop(graceMs: number): Promise<void> {
    this.letGo();
    if (!this.alive) return;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), graceMs);
    await this.gone;
    clearTimeout(timer);
  }

  #miss(journal: Journal): void {
    const last = journal.lastLines(this.name).map((line) => `  ${line}`);
    const words = last.length ? `; its last lines:\n${last.join("\n")}` : "";
    journal.say(`${this.name} (pid ${this.pid}) died by itself: ${this.#how}${words}`);
  }
}
