// The one file that knows the shape of Lambda's HTTP events (payload format 2.0: HTTP APIs and Function URLs).

import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { Fault } from "../fault.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

export function isHttpEvent(event: unknown): event is APIGatewayProxyEventV2 {
  const http = (event as { requestContext?: { http?: { method?: unknown } } } | null)?.requestContext?.http;
  return typeof http?.method === "string";
}

/**
 * @param maxBodyBytes a larger body is refused before it is decoded or hashed
 * @throws Fault RequestEntityTooLarge
 */
export function readHttpEvent(event: APIGatewayProxyEventV2, maxBodyBytes: number): HttpRequest {
  const encoding = event.isBase64Encoded ? "base64" : "utf8";
  const body = event.body ?? "";
  const bytes = Buffer.byteLength(body, encoding) + event.rawQueryString.length;
  if (bytes > maxBodyBytes) {
    throw new Fault(
      "RequestEntityTooLarge",
      `The request is ${bytes} bytes; at most ${maxBodyBytes} are read`,
    );
  }
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(event.headers)) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  headers.host ??= event.requestContext.domainName;
  return {
    method: event.requestContext.http.method,
    path: event.rawPath || "/",
    query: event.rawQueryString,
    headers,
    body: Buffer.from(body, encoding),
  };
}

export const writeHttpResult = (response: HttpResponse): APIGatewayProxyStructuredResultV2 => ({
  statusCode: response.status,
  headers: response.headers,
  body: response.body,
  isBase64Encoded: false,
});
