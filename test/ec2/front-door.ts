// The handler behind a real HTTP server that makes API Gateway's events (payload format 2.0), so that real clients
// can call it. Deps are the test's own.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import type { LambdaHandler } from "../../lib/http/handler.ts";

/** API Gateway hands these over as text, everything else as base64. */
const TEXT = /^(text\/|application\/(json|xml|javascript)\b)/;

/** Headers that API Gateway does not pass on. */
const DROPPED = new Set(["connection", "transfer-encoding", "expect"]);

export const lambdaContext = (timeoutMs = 30_000): Context => {
  const deadline = Date.now() + timeoutMs;
  return {
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  } as Context;
};

export interface HttpCall {
  method: string;
  path: string;
  query?: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

export function httpEvent({ method, path, query = "", headers, body }: HttpCall): APIGatewayProxyEventV2 {
  const isBase64Encoded = body !== undefined && !TEXT.test(headers["content-type"] ?? "");
  const bytes = body === undefined ? undefined : Buffer.from(body as string);
  return {
    version: "2.0",
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      domainName: "localhost",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" },
    } as APIGatewayProxyEventV2["requestContext"],
    ...(bytes ? { body: bytes.toString(isBase64Encoded ? "base64" : "utf8") } : {}),
    isBase64Encoded,
  };
}

export interface FrontDoor extends AsyncDisposable {
  url: string;
}

export async function openFrontDoor(handler: LambdaHandler): Promise<FrontDoor> {
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? "/", "http://localhost");
    const body = await readAll(incoming);
    const event = httpEvent({
      method: incoming.method ?? "GET",
      path: url.pathname,
      query: incoming.url?.split("?")[1] ?? "",
      headers: headersOf(incoming),
      ...(body.byteLength > 0 ? { body } : {}),
    });
    const result = (await handler(event, lambdaContext())) as APIGatewayProxyStructuredResultV2;
    outgoing.writeHead(result.statusCode ?? 200, result.headers as Record<string, string>);
    outgoing.end(result.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    if (!DROPPED.has(name)) headers[name] = (value ?? []).join(",");
  }
  return headers;
}
