// The process that stands for API Gateway and the Function URL of one gateway. Its sandboxes are its children.
//
// It is told what to do by the stack over its channel and ends, with its sandboxes, when that channel closes.

import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { answerFunctionUrl } from "./function-url.ts";
import { readFunctions } from "./functions.ts";
import { API_GATEWAY } from "./gateway-answer.ts";
import { answerHttpApi, GATEWAY_BYTES } from "./http-api.ts";
import type { Stream } from "./journal.ts";
import type { FrontRequest } from "./lambda-event.ts";
import { mintTraceId, Pool } from "./pool.ts";
import { HOST } from "./ports.ts";
import { startScheduler } from "./scheduler.ts";
import { sendAnswer } from "./send-answer.ts";

/** What the stack tells a front, once. */
export interface FrontOrders {
  port: number;
  streamPort: number;
  /** serverless.yml. */
  functions: string;
  taskRoot: string;
  /** By function. */
  environments: Record<string, Record<string, string>>;
  sandboxes: number;
  /** Starts one sandbox of each function ahead of any request, so that one that cannot start is known at once. */
  provision: boolean;
  /** One gateway of the stack runs the schedules. */
  schedules: boolean;
}

export type FrontReport =
  | { report: "listening"; port: number; streamPort: number }
  | { report: "refused"; why: string }
  | { report: "line"; part: string; stream: Stream; line: string }
  | { report: "sandbox"; pid: number; alive: boolean };

const report = (message: FrontReport): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

function startPools(orders: FrontOrders): Map<string, Pool> {
  const pools = readFunctions(orders.functions).map(
    (fn) =>
      new Pool({
        fn,
        taskRoot: orders.taskRoot,
        env: orders.environments[fn.name] ?? {},
        limit: orders.sandboxes,
        onLine: (part, stream, line) => report({ report: "line", part, stream, line }),
        onSandbox: (pid, alive) => report({ report: "sandbox", pid, alive }),
      }),
  );
  return new Map(pools.map((pool) => [pool.fn.name, pool]));
}

/** @returns undefined when the body is larger than API Gateway takes */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Read on without keeping it: a client that still writes would see a reset connection instead of the answer.
    if (bytes <= GATEWAY_BYTES) chunks.push(chunk);
  }
  return bytes > GATEWAY_BYTES ? undefined : Buffer.concat(chunks);
}

const listener =
  (answer: (request: FrontRequest, response: ServerResponse) => Promise<void>): RequestListener =>
  async (request, response) => {
    try {
      const body = await readBody(request);
      if (!body) return sendAnswer(response, API_GATEWAY.tooLarge());
      const { method = "GET", url = "/", rawHeaders, socket } = request;
      const { remoteAddress: sourceIp = HOST, localPort: port = 0 } = socket;
      await answer({ method, url, rawHeaders, body, sourceIp, port, traceId: mintTraceId() }, response);
    } catch (error) {
      // The caller left while it was still sending, or the front itself is wrong, which must be seen.
      if (!request.destroyed || request.complete) console.error(error);
      response.destroy();
    }
  };

/** API Gateway keeps idle connections for minutes; with Node's five seconds a client's next request meets a reset. */
const KEEP_ALIVE_MS = 75_000;

async function listen(server: Server, port: number): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, HOST);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function provision(pools: ReadonlyMap<string, Pool>): Promise<string | undefined> {
  for (const pool of pools.values()) {
    const why = await pool.provision();
    if (why) return `${pool.fn.name} does not start: ${why}`;
  }
  return undefined;
}

async function run(orders: FrontOrders, pools: ReadonlyMap<string, Pool>): Promise<void> {
  const urlPool = [...pools.values()].find(({ fn }) => fn.url);
  const api = createServer(
    listener(async (request, response) => sendAnswer(response, await answerHttpApi(request, pools))),
  );
  const url = createServer(
    listener(async (request, response) =>
      urlPool
        ? await answerFunctionUrl(request, urlPool, response)
        : sendAnswer(response, API_GATEWAY.notFound()),
    ),
  );
  try {
    const port = await listen(api, orders.port);
    const streamPort = await listen(url, orders.streamPort);
    const why = orders.provision ? await provision(pools) : undefined;
    report(why ? { report: "refused", why } : { report: "listening", port, streamPort });
  } catch (error) {
    report({ report: "refused", why: (error as Error).message });
  }
  if (!orders.schedules) return;
  const schedules = [...pools.values()].flatMap((pool) =>
    pool.fn.schedules.map((schedule) => ({
      name: pool.fn.name,
      schedule,
      run: (event: unknown) => void pool.invoke(event),
    })),
  );
  if (schedules.length) startScheduler({ schedules });
}

let pools: ReadonlyMap<string, Pool> = new Map();

const end = (): never => {
  for (const pool of pools.values()) pool.close();
  process.exit(0);
};

process.once("SIGTERM", end).once("disconnect", end);
process.once("message", (orders: FrontOrders) => {
  pools = startPools(orders);
  void run(orders, pools);
});
