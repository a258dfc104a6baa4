// A gateway's front with the fixture functions behind it, as the stack would run it.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { FrontOrders, FrontReport } from "../../infra/local/front.ts";
import { childrenOf } from "../support/processes.ts";

const FIXTURE = join(import.meta.dirname, "fixture");
const ENTRY = join(import.meta.dirname, "..", "..", "infra", "local", "front.ts");

export interface Front extends AsyncDisposable {
  url: string;
  streamUrl: string;
  child: ChildProcess;
  sandboxes(): number[];
  lines: string[];
}

export async function startFront({ sandboxes = 8 } = {}): Promise<Front> {
  const child = fork(ENTRY);
  const lines: string[] = [];
  const listening = Promise.withResolvers<{ port: number; streamPort: number }>();
  child.on("message", (message: FrontReport) => {
    if (message.report === "listening") listening.resolve(message);
    if (message.report === "refused") listening.reject(new Error(message.why));
    if (message.report === "line") lines.push(`${message.part} ${message.line}`);
  });
  child.send({
    port: 0,
    streamPort: 0,
    functions: join(FIXTURE, "serverless.yml"),
    taskRoot: FIXTURE,
    environments: {},
    sandboxes,
    provision: false,
    schedules: false,
  } satisfies FrontOrders);
  const { port, streamPort } = await listening.promise;
  return {
    url: `http://127.0.0.1:${port}`,
    streamUrl: `http://127.0.0.1:${streamPort}`,
    child,
    lines,
    sandboxes: () => childrenOf(child.pid!).map(({ pid }) => pid),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
