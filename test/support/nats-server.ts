// A stack's nats-server, killed and started again on the same ports with the same configuration.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { isAlive } from "./processes.ts";
import type { Stack } from "./stack.ts";

export class NatsServer implements AsyncDisposable {
  readonly #stack: Stack;
  #child: ChildProcess | undefined;

  /** The stack's own; what is started in its place ends with this. */
  constructor(stack: Stack) {
    this.#stack = stack;
  }

  async restart(): Promise<void> {
    const { nats, data } = this.#stack.ready;
    const folder = join(data, "nats");
    await this.#kill();
    this.#child = spawn("nats-server", ["-c", join(folder, "nats.conf")], {
      env: {
        PATH: process.env.PATH,
        NIGHTPORTER_NATS_HOST: "127.0.0.1",
        NIGHTPORTER_NATS_PORT: new URL(nats.tcpUrl).port,
        NIGHTPORTER_NATS_WS_PORT: new URL(nats.url).port,
      },
      stdio: "ignore",
    });
    await eventually("nats-server listens again", () => listens(Number(new URL(nats.url).port)));
  }

  async #kill(): Promise<void> {
    if (this.#child) {
      const gone = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await gone;
      return;
    }
    const { pid } = this.#stack.ready.nats;
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await eventually("nats-server is gone", () => !isAlive(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await this.#kill();
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } finally {
    socket.destroy();
  }
}
