// The middy stack around a face: every fault of a request is caught here and nowhere else.
//
// 1. Whatever is thrown leaves as the face's own error document. API Gateway's answer to a failed function is JSON,
//    which no EC2 client can read.
// 2. A handler that overruns answers by itself `answerMs` before Lambda would cut it off. What it was doing may
//    still finish, so the caller is told that the outcome is not known.
// 3. Each request writes one log line.

import { randomUUID } from "node:crypto";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { Fault } from "../fault.ts";
import type { Call } from "./call.ts";
import { isHttpEvent, readHttpEvent, writeHttpResult } from "./lambda-event.ts";
import { type Log, type LogLine, writeLog } from "./log.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

/** How one face answers. Both ways may throw; `line` takes what is worth logging as it becomes known. */
export interface Face {
  maxBodyBytes: number;
  answer(request: HttpRequest, call: Call, line: LogLine): Promise<HttpResponse>;
  renderFault(fault: Fault, requestId: string): HttpResponse;
  /** Events that are no HTTP: a console test event, a schedule. IAM has authorised them already. */
  invoke(event: unknown, call: Call, line: LogLine): Promise<unknown>;
}

export interface HandlerOptions {
  /** The answer leaves this long before Lambda's deadline. */
  answerMs: number;
  log?: Log;
}

export type LambdaHandler = (event: unknown, context: Context) => Promise<unknown>;

const OK = 200;
const SERVER_FAULT = 500;

/** After an overrun: long enough for what is still running to end, short enough for a client that waits. */
const RETRY_AFTER_SECONDS = 1;

export function createHandler(face: Face, { answerMs, log = writeLog }: HandlerOptions): LambdaHandler {
  const lines = createLines(log);
  return middy<unknown, unknown, Error, Context>({
    timeoutEarlyInMillis: answerMs,
    timeoutEarlyResponse: () => {
      throw new Fault("Unavailable", undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    },
  })
    .before(({ context }) => lines.open(context))
    .handler(async (event: unknown, context: Context) => {
      const line = lines.of(context);
      const answerBy = Date.now() + context.getRemainingTimeInMillis() - answerMs;
      const call: Call = { requestId: line.requestId, answerBy };
      if (!isHttpEvent(event)) return face.invoke(event, call, line);
      const request = readHttpEvent(event, face.maxBodyBytes);
      const endpoint = request.headers.host ?? "";
      return writeHttpResult(await face.answer(request, { ...call, endpoint }, line));
    })
    .after(({ context, response }) => {
      lines.close(context, { status: (response as { statusCode?: number } | undefined)?.statusCode ?? OK });
    })
    .onError((request) => {
      const { event, context, error } = request;
      const fault = error instanceof Fault ? error : new Fault("InternalError", undefined, { cause: error });
      lines.close(context, { status: fault.status, code: fault.ec2Code, ...causeOf(fault) });
      const { requestId } = lines.of(context);
      request.response = isHttpEvent(event)
        ? writeHttpResult(face.renderFault(fault, requestId))
        : { requestId, error: { code: fault.ec2Code, message: fault.message } };
    }) as LambdaHandler;
}

/** The log lines of the requests in hand, by context: middy gives the handler nothing else of its own request. */
function createLines(log: Log) {
  const open = new WeakMap<Context, { line: LogLine; startedAt: number }>();
  const entry = (context: Context) => {
    const found = open.get(context);
    if (!found) throw new Error("a request has no log line; middy's stack ran out of order");
    return found;
  };
  return {
    open(context: Context): void {
      // Lambda's own id, so that the answer, our line and Lambda's name the call alike.
      const requestId = context.awsRequestId || randomUUID();
      open.set(context, { line: { requestId }, startedAt: performance.now() });
    },
    of: (context: Context): LogLine => entry(context).line,
    close(context: Context, outcome: Partial<LogLine>): void {
      const { line, startedAt } = entry(context);
      log({ ...line, ...outcome, ms: Math.round((performance.now() - startedAt) * 10) / 10 });
    },
  };
}

/** A refusal is told by its code; of what went wrong on this side, the log says why. */
function causeOf({ cause, message, status }: Fault): { error?: string } {
  if (cause !== undefined)
    return { error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) };
  return status >= SERVER_FAULT ? { error: message } : {};
}
