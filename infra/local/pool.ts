// A function's sandboxes: a request takes the idle one used last, else starts another, as Lambda does.

import { randomBytes, randomUUID } from "node:crypto";
import { ACCOUNT, REGION } from "./account.ts";
import type { LambdaFunction } from "./functions.ts";
import type { Stream } from "./journal.ts";
import type { Answer } from "./runtime-api.ts";
import { Sandbox, type SandboxOptions } from "./sandbox.ts";

export interface PoolOptions {
  fn: LambdaFunction;
  taskRoot: string;
  env: Readonly<Record<string, string>>;
  /** Most sandboxes at a time. */
  limit: number;
  onLine: (part: string, stream: Stream, line: string) => void;
  onSandbox: (pid: number, alive: boolean) => void;
}

export class Pool {
  readonly fn: LambdaFunction;
  readonly #options: PoolOptions;
  readonly #all = new Set<Sandbox>();
  /** The one used last comes last. */
  readonly #idle: Sandbox[] = [];
  /** Waiting for their first invocation, which is not the pool's to give away. */
  readonly #claimed = new Set<Sandbox>();
  #starting = 0;
  #started = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.fn = options.fn;
    this.#options = options;
  }

  async invoke(event: unknown, traceId = mintTraceId()): Promise<Answer | { outcome: "throttled" }> {
    const sandbox = this.#idle.pop();
    if (sandbox) return await sandbox.invoke(this.#invocation(event, traceId));
    if (this.#all.size + this.#starting >= this.#options.limit) return { outcome: "throttled" };
    const fresh = await this.#start();
    if (typeof fresh === "string") return { outcome: "failed", type: "Runtime.InitError", message: fresh };
    return await fresh.invoke(this.#invocation(event, traceId));
  }

  /**
   * Starts one sandbox ahead of any request.
   * @returns why it does not start, or undefined
   */
  async provision(): Promise<string | undefined> {
    const fresh = await this.#start();
    if (typeof fresh === "string") return fresh;
    this.#idle.push(fresh);
    return undefined;
  }

  close(): void {
    this.#closed = true;
    for (const sandbox of this.#all) sandbox.kill();
  }

  #invocation(event: unknown, traceId: string) {
    const arn = `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${this.fn.name}`;
    return { event, requestId: randomUUID(), traceId, arn };
  }

  async #start(): Promise<Sandbox | string> {
    const { fn, taskRoot, env, onLine, onSandbox } = this.#options;
    const part = `${fn.name}#${++this.#started}`;
    const options: SandboxOptions = {
      fn,
      taskRoot,
      env,
      onLine: (stream, line) => onLine(part, stream, line),
      onIdle: (sandbox) => {
        if (!this.#claimed.delete(sandbox)) this.#idle.push(sandbox);
      },
      onGone: (sandbox, how) => {
        if (!this.#closed) onLine(part, "stderr", `ended: ${how}; the next request starts another`);
        this.#all.delete(sandbox);
        this.#claimed.delete(sandbox);
        const at = this.#idle.indexOf(sandbox);
        if (at >= 0) this.#idle.splice(at, 1);
        onSandbox(sandbox.pid, false);
      },
    };
    this.#starting++;
    const sandbox = await Sandbox.start(options).finally(() => this.#starting--);
    this.#all.add(sandbox);
    this.#claimed.add(sandbox);
    onSandbox(sandbox.pid, true);
    if (this.#closed) sandbox.kill();
    return (await sandbox.ready) ?? sandbox;
  }
}

/** X-Ray's form: version, epoch seconds, 96 bits. */
export function mintTraceId(): string {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString("hex")}`;
}
