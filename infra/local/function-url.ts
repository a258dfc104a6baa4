// A Function URL with response streaming: the prelude becomes status and headers, the rest goes out as it comes.

import type { IncomingMessage, ServerResponse } from "node:http";
import { API_GATEWAY, gatewayAnswer, type HttpAnswer, readHead, readResult } from "./gateway-answer.ts";
import { LAMBDA_BYTES } from "./http-api.ts";
import { type FrontRequest, functionUrlDomain, lambdaEvent } from "./lambda-event.ts";
import type { Pool } from "./pool.ts";
import type { Answer } from "./runtime-api.ts";
import { sendAnswer } from "./send-answer.ts";

/** Announces a JSON prelude, set apart from the body by eight NUL bytes. */
const WITH_PRELUDE = "application/vnd.awslambda.http-integration-response";
const DELIMITER = Buffer.alloc(8);

const URL_ID = "nightporter";
/** What a Function URL answers when its function failed. */
const badGateway = (): HttpAnswer => gatewayAnswer(502, "Internal Server Error");

export async function answerFunctionUrl(
  request: FrontRequest,
  pool: Pool,
  response: ServerResponse,
): Promise<void> {
  const event = lambdaEvent(request, {
    apiId: URL_ID,
    domainName: functionUrlDomain(URL_ID),
    routeKey: "$default",
    rawPath: request.url.split("?")[0]!,
  });
  if (Buffer.byteLength(JSON.stringify(event)) > LAMBDA_BYTES)
    return sendAnswer(response, API_GATEWAY.tooLarge());
  const answer = await pool.invoke(event, request.traceId);
  switch (answer.outcome) {
    case "streaming":
      return await passOn(answer, response);
    case "answered":
      return sendAnswer(response, readResult(answer.body) ?? badGateway());
    case "throttled":
      return sendAnswer(response, API_GATEWAY.throttled());
    case "failed":
    case "died":
    case "timed-out":
      return sendAnswer(response, badGateway());
    default:
      throw new Error(answer satisfies never);
  }
}

async function passOn(
  { contentType, body, over }: Extract<Answer, { outcome: "streaming" }>,
  response: ServerResponse,
): Promise<void> {
  let head: Buffer | undefined = contentType === WITH_PRELUDE ? Buffer.alloc(0) : undefined;
  const begin = () => response.headersSent || response.writeHead(200, { "content-type": contentType });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      let bytes = chunk;
      if (head) {
        head = Buffer.concat([head, chunk]);
        const at = head.indexOf(DELIMITER);
        if (at < 0) continue;
        const { status, headers } = readHead(JSON.parse(head.subarray(0, at).toString()));
        response.writeHead(status, headers).flushHeaders();
        bytes = head.subarray(at + DELIMITER.length);
        head = undefined;
      }
      begin();
      // The function is not told of a caller who left: it runs to its end, as on Lambda.
      if (!response.destroyed && bytes.length && !response.write(bytes)) await drained(response);
    }
  } catch {
    return giveUp(response);
  }
  await over;
  const failed = (body as IncomingMessage).trailers["lambda-runtime-function-error-type"] !== undefined;
  if (failed || head) return giveUp(response);
  begin();
  response.end();
}

/** A stream that broke off before its first byte is a failure; after it the connection ends without an end mark. */
function giveUp(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else sendAnswer(response, badGateway());
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.once("drain", go).once("close", go);
  });
