// One sandbox: a process in AWS's own runtime client, and the Runtime API that only this process talks to.
//
// It takes one invocation at a time. It is idle from the moment it asks for the next one, not from its answer.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CREDENTIALS, REGION } from "./account.ts";
import type { LambdaFunction } from "./functions.ts";
import type { Stream } from "./journal.ts";
import { HOST } from "./ports.ts";

export interface SandboxOptions {
  fn: LambdaFunction;
  arn: string;
  /** What /var/task is on Lambda: the handler's path starts here. */
  taskRoot: string;
  env: Readonly<Record<string, string>>;
  onLine: (stream: Stream, line: string) => void;
  onIdle: (sandbox: Sandbox) => void;
  onGone: (sandbox: Sandbox, how: string) => void;
}

export type Answer =
  | { outcome: "answered"; body: Buffer }
  /** `over` settles when the sandbox has finished with it. */
  | { outcome: "streaming"; contentType: string; body: Readable; over: Promise<void> }
  | { outcome: "failed"; type: string; message: string }
  | { outcome: "died"; how: string }
  | { outcome: "timed-out" };

interface Invocation {
  id: string;
  settle: (answer: Answer) => void;
  /** Resolved when the sandbox asks for its next invocation, or is gone. */
  over: PromiseWithResolvers<void>;
}

const RUNTIME = fileURLToPath(import.meta.resolve("aws-lambda-ric"));
const PRELOAD = join(import.meta.dirname, "sandbox-preload.mjs");

/** An answer waits this long for its sandbox to be idle again, so that a caller's next request finds it so. */
const SETTLE_MS = 50;
/** A start has a limit of its own, outside the function's. Lambda allows 10 s; a busy laptop needs more. */
const INIT_MS = 30_000;

export class Sandbox {
  readonly options: SandboxOptions;
  readonly #server: Server;
  readonly #child: ChildProcess;
  /** Settles when it first asks for an invocation; undefined, or why it never did. */
  readonly ready: Promise<string | undefined>;
  #started!: (fault: string | undefined) => void;
  #poll: ServerResponse | undefined;
  #current: Invocation | undefined;
  #how: string | undefined;

  static async start(options: SandboxOptions): Promise<Sandbox> {
    const server = createServer();
    // A streamed answer is one request that may last as long as the function.
    server.requestTimeout = 0;
    server.keepAliveTimeout = 0;
    server.listen(0, HOST);
    await once(server, "listening");
    return new Sandbox(options, server);
  }

  private constructor(options: SandboxOptions, server: Server) {
    this.options = options;
    this.#server = server.on("request", (request, response) => this.#serve(request, response));
    this.ready = new Promise((resolve) => {
      this.#started = resolve;
    });
    const { fn, taskRoot } = options;
    this.#child = spawn(process.execPath, ["--import", PRELOAD, RUNTIME, fn.handler], {
      cwd: taskRoot,
      env: this.#environment((server.address() as AddressInfo).port),
      // stdin stays open as long as this process lives; see sandbox-preload.mjs.
      stdio: ["pipe", "pipe", "pipe"],
    });
    for (const stream of ["stdout", "stderr"] as const) {
      const lines = createInterface({ input: this.#child[stream]! });
      lines.on("line", (line) => options.onLine(stream, line));
    }
    const late = setTimeout(() => {
      this.#started(`its start took over ${INIT_MS / 1000} s`);
      this.kill();
    }, INIT_MS);
    this.ready.then(() => clearTimeout(late));
    this.#child.stdin?.on("error", () => {});
    this.#child.once("exit", (code, signal) => this.#end(signal ?? `exit ${code}`));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get alive(): boolean {
    return this.#how === undefined;
  }

  /** Only for an idle sandbox. Settles with its answer; one that overruns `timeoutMs` is killed, as on Lambda. */
  async invoke(event: unknown, requestId: string, traceId: string): Promise<Answer> {
    if (this.#how !== undefined) return { outcome: "died", how: this.#how };
    const { fn, arn } = this.options;
    const answer = Promise.withResolvers<Answer>();
    const over = Promise.withResolvers<void>();
    this.#current = { id: requestId, settle: answer.resolve, over };
    const timer = setTimeout(() => {
      this.options.onLine("stderr", `Task timed out after ${(fn.timeoutMs / 1000).toFixed(2)} seconds`);
      answer.resolve({ outcome: "timed-out" });
      this.kill();
    }, fn.timeoutMs);
    over.promise.then(() => clearTimeout(timer));
    const poll = this.#poll;
    this.#poll = undefined;
    poll?.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": requestId,
      "lambda-runtime-deadline-ms": String(Date.now() + fn.timeoutMs),
      "lambda-runtime-invoked-function-arn": arn,
      "lambda-runtime-trace-id": traceId,
    });
    poll?.end(JSON.stringify(event));
    const given = await answer.promise;
    if (given.outcome === "answered" || given.outcome === "failed") {
      await Promise.race([over.promise, delay(SETTLE_MS)]);
    }
    return given;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [area, id, verb] = request.url?.split("/").slice(3) ?? [];
    if (area === "invocation" && id === "next") return this.#idle(response);
    const streamed = request.headers["lambda-runtime-function-response-mode"] === "streaming";
    const current = this.#current;
    if (verb === "response" && streamed && current) {
      const contentType = request.headers["content-type"] ?? "application/octet-stream";
      current.settle({ outcome: "streaming", contentType, body: request, over: current.over.promise });
      request.once("end", () => accept(response));
      return;
    }
    const body = Buffer.concat(await request.toArray());
    accept(response);
    if (verb === "response") return current?.settle({ outcome: "answered", body });
    const fault = JSON.parse(body.toString()) as { errorType?: string; errorMessage?: string };
    const type = fault.errorType ?? "Error";
    const message = fault.errorMessage ?? "";
    if (area === "init") this.#started(`${type}: ${message}`);
    else current?.settle({ outcome: "failed", type, message });
  }

  #idle(poll: ServerResponse): void {
    this.#poll = poll;
    this.#finish();
    this.#started(undefined);
    this.options.onIdle(this);
  }

  #finish(): void {
    this.#current?.over.resolve();
    this.#current = undefined;
  }

  #end(how: string): void {
    this.#how = how;
    this.#started(`it ended while starting: ${how}`);
    this.#current?.settle({ outcome: "died", how });
    this.#finish();
    this.#server.close();
    this.#server.closeAllConnections();
    this.options.onGone(this, how);
  }

  #environment(port: number): NodeJS.ProcessEnv {
    const { fn, taskRoot, env } = this.options;
    return {
      PATH: process.env.PATH,
      TZ: ":UTC",
      LANG: "en_US.UTF-8",
      AWS_LAMBDA_RUNTIME_API: `${HOST}:${port}`,
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
    };
  }
}

function accept(response: ServerResponse): void {
  response.writeHead(202, { "content-type": "application/json" }).end('{"status":"OK"}');
}
