// The Runtime API that one sandbox talks to: it asks for the next invocation and posts what became of the last.
//
// A sandbox takes one invocation at a time. It is idle from the moment it asks for the next one, not from its answer.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { HOST } from "./ports.ts";

export type Answer =
  | { outcome: "answered"; body: Buffer }
  /** `over` settles when the sandbox has finished with it. */
  | { outcome: "streaming"; contentType: string; body: Readable; over: Promise<void> }
  | { outcome: "failed"; type: string; message: string }
  | { outcome: "died"; how: string }
  | { outcome: "timed-out" };

export interface Invocation {
  event: unknown;
  requestId: string;
  traceId: string;
  arn: string;
  /** Epoch ms. */
  deadline: number;
}

export interface Handed {
  answer: PromiseWithResolvers<Answer>;
  /** Resolved when the sandbox asks for its next invocation, or is gone. */
  over: PromiseWithResolvers<void>;
}

export interface RuntimeEvents {
  onIdle: () => void;
  /** The function's module could not be loaded, or threw. */
  onInitError: (fault: string) => void;
}

export class RuntimeApi {
  readonly #server: Server;
  readonly #events: RuntimeEvents;
  #poll: ServerResponse | undefined;
  #handed: Handed | undefined;

  static async open(events: RuntimeEvents): Promise<RuntimeApi> {
    const server = createServer();
    // A streamed answer is one request that may last as long as the function.
    server.requestTimeout = 0;
    server.keepAliveTimeout = 0;
    server.listen(0, HOST);
    await once(server, "listening");
    return new RuntimeApi(server, events);
  }

  private constructor(server: Server, events: RuntimeEvents) {
    this.#events = events;
    this.#server = server.on("request", (request, response) => {
      // A sandbox that dies while it posts: its end is told by its process.
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** As the runtime client wants it: `host:port`. */
  get address(): string {
    return `${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Only for an idle sandbox. */
  hand({ event, requestId, traceId, arn, deadline }: Invocation): Handed {
    const handed: Handed = { answer: Promise.withResolvers(), over: Promise.withResolvers() };
    this.#handed = handed;
    const poll = this.#poll;
    this.#poll = undefined;
    poll?.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": requestId,
      "lambda-runtime-deadline-ms": String(deadline),
      "lambda-runtime-invoked-function-arn": arn,
      "lambda-runtime-trace-id": traceId,
    });
    poll?.end(JSON.stringify(event));
    return handed;
  }

  /** The sandbox is gone. */
  close(how: string): void {
    this.#handed?.answer.resolve({ outcome: "died", how });
    this.#finish();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [area, id, verb] = request.url?.split("/").slice(3) ?? [];
    if (area === "invocation" && id === "next") {
      this.#poll = response;
      this.#finish();
      return this.#events.onIdle();
    }
    const handed = this.#handed;
    const streamed = request.headers["lambda-runtime-function-response-mode"] === "streaming";
    if (verb === "response" && streamed && handed) {
      const contentType = request.headers["content-type"] ?? "application/octet-stream";
      handed.answer.resolve({ outcome: "streaming", contentType, body: request, over: handed.over.promise });
      request.once("end", () => accept(response));
      return;
    }
    const body = Buffer.concat(await request.toArray());
    accept(response);
    if (verb === "response") return handed?.answer.resolve({ outcome: "answered", body });
    const { errorType: type = "Error", errorMessage: message = "" } = JSON.parse(body.toString());
    if (area === "init") this.#events.onInitError(`${type}: ${message}`);
    else handed?.answer.resolve({ outcome: "failed", type, message });
  }

  #finish(): void {
    this.#handed?.over.resolve();
    this.#handed = undefined;
  }
}

function accept(response: ServerResponse): void {
  response.writeHead(202, { "content-type": "application/json" }).end('{"status":"OK"}');
}
