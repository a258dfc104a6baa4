// One sandbox: a process in AWS's own runtime client, with a Runtime API that only this process talks to.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CREDENTIALS, REGION } from "./account.ts";
import type { LambdaFunction } from "./functions.ts";
import type { Stream } from "./journal.ts";
import { type Answer, type Invocation, RuntimeApi } from "./runtime-api.ts";

export interface SandboxOptions {
  fn: LambdaFunction;
  /** What /var/task is on Lambda: the handler's path starts here. */
  taskRoot: string;
  env: Readonly<Record<string, string>>;
  onLine: (stream: Stream, line: string) => void;
  onIdle: (sandbox: Sandbox) => void;
  onGone: (sandbox: Sandbox, how: string) => void;
}

const RUNTIME = fileURLToPath(import.meta.resolve("aws-lambda-ric"));
const PRELOAD = join(import.meta.dirname, "sandbox-preload.mjs");

/** An answer waits this long for its sandbox to be idle again, so that a caller's next request finds it so. */
const SETTLE_MS = 50;
/** A start has a limit of its own, outside the function's. Lambda allows 10 s; a busy laptop needs more. */
const INIT_MS = 30_000;

export class Sandbox {
  /** Settles when it first asks for an invocation: undefined, or why it never did. */
  readonly ready: Promise<string | undefined>;
  readonly #options: SandboxOptions;
  readonly #api: RuntimeApi;
  readonly #child: ChildProcess;
  #how: string | undefined;

  static async start(options: SandboxOptions): Promise<Sandbox> {
    const started = Promise.withResolvers<string | undefined>();
    const api = await RuntimeApi.open({
      onIdle: () => {
        started.resolve(undefined);
        options.onIdle(sandbox);
      },
      onInitError: started.resolve,
    });
    const sandbox = new Sandbox(options, api, started);
    return sandbox;
  }

  private constructor(
    options: SandboxOptions,
    api: RuntimeApi,
    started: PromiseWithResolvers<string | undefined>,
  ) {
    this.#options = options;
    this.#api = api;
    this.ready = started.promise;
    const { fn, taskRoot } = options;
    this.#child = spawn(process.execPath, ["--import", PRELOAD, RUNTIME, fn.handler], {
      cwd: taskRoot,
      env: environment(options, api.address),
      // stdin stays open as long as this process lives; see sandbox-preload.mjs.
      stdio: ["pipe", "pipe", "pipe"],
    });
    for (const stream of ["stdout", "stderr"] as const) {
      const lines = createInterface({ input: this.#child[stream]! });
      lines.on("line", (line) => options.onLine(stream, line));
    }
    this.#child.stdin?.on("error", () => {});
    const late = setTimeout(() => {
      started.resolve(`its start took over ${INIT_MS / 1000} s`);
      this.kill();
    }, INIT_MS);
    started.promise.then(() => clearTimeout(late));
    this.#child.once("exit", (code, signal) => {
      this.#how = signal ?? `exit ${code}`;
      started.resolve(`it ended while starting: ${this.#how}`);
      api.close(this.#how);
      options.onGone(this, this.#how);
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Only for an idle sandbox. Settles with its answer; one that overruns its function's time is killed. */
  async invoke(invocation: Omit<Invocation, "deadline">): Promise<Answer> {
    if (this.#how !== undefined) return { outcome: "died", how: this.#how };
    const { timeoutMs } = this.#options.fn;
    const { answer, over } = this.#api.hand({ ...invocation, deadline: Date.now() + timeoutMs });
    const timer = setTimeout(() => {
      this.#options.onLine("stderr", `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`);
      answer.resolve({ outcome: "timed-out" });
      this.kill();
    }, timeoutMs);
    over.promise.then(() => clearTimeout(timer));
    const given = await answer.promise;
    if (given.outcome === "answered" || given.outcome === "failed") {
      await Promise.race([over.promise, delay(SETTLE_MS)]);
    }
    return given;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Nothing of this machine's own environment: what a function needs must come from serverless.yml. */
const environment = ({ fn, taskRoot, env }: SandboxOptions, runtimeApi: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  TZ: ":UTC",
  LANG: "en_US.UTF-8",
  AWS_LAMBDA_RUNTIME_API: runtimeApi,
  LAMBDA_TASK_ROOT: taskRoot,
  _HANDLER: fn.handler,
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMiB),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${fn.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: randomUUID(),
  AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  ...env,
});
