// The stack's end of the guard: what must not outlive the stack, even when it is killed.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export class Guard {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "guard.mjs")], {
      // A group of its own: Ctrl-C in a terminal goes to the whole group, and the guard must outlive the stack.
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    this.#child.stdin?.on("error", () => {});
  }

  watch(pid: number): void {
    this.#order(`watch ${pid}`);
  }

  forget(pid: number): void {
    this.#order(`forget ${pid}`);
  }

  /** Removed at the end, however the end comes. */
  folder(path: string): void {
    this.#order(`folder ${path}`);
  }

  /** Ends the guard, which ends what it still watches and removes the folder. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.stdin?.end();
    await gone;
  }

  #order(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }
}
