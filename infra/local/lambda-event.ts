// An HTTP request as Lambda gets it: payload format 2.0, the same for an HTTP API and a Function URL.

import { randomUUID } from "node:crypto";
import { ACCOUNT, REGION } from "./account.ts";

export interface FrontRequest {
  method: string;
  /** As sent: path, and query with its `?`. */
  url: string;
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[];
  body: Buffer;
  sourceIp: string;
  port: number;
  traceId: string;
}

export interface Via {
  apiId: string;
  domainName: string;
  /** `POST /`, or `$default` for a Function URL. */
  routeKey: string;
  rawPath: string;
  pathParameters?: Record<string, string>;
}

export const httpApiDomain = (apiId: string): string => `${apiId}.execute-api.${REGION}.amazonaws.com`;
export const functionUrlDomain = (urlId: string): string => `${urlId}.lambda-url.${REGION}.on.aws`;

/** Bodies that travel as text; everything else, a form included, is base64 (seen at AWS). */
const TEXT = /^(text\/|application\/(json|xml|javascript)\b|application\/[^;]*\+(json|xml)\b)/i;

/** Of one connection only; API Gateway ends the connection and does not pass them on. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

export function lambdaEvent(request: FrontRequest, via: Via) {
  const { rawPath } = via;
  const [, rawQueryString = ""] = splitOnce(request.url, "?");
  const { headers, cookies } = readHeaders(request);
  const now = new Date();
  const query = readQuery(rawQueryString);
  const encoded = !TEXT.test(headers["content-type"] ?? "") || headers["content-encoding"] !== undefined;
  const body = request.body.length
    ? { body: request.body.toString(encoded ? "base64" : "utf8"), isBase64Encoded: encoded }
    : { isBase64Encoded: false };
  return {
    version: "2.0",
    routeKey: via.routeKey,
    rawPath,
    rawQueryString,
    ...(cookies.length ? { cookies } : {}),
    headers,
    ...(query ? { queryStringParameters: query } : {}),
    requestContext: {
      accountId: ACCOUNT,
      apiId: via.apiId,
      domainName: via.domainName,
      domainPrefix: via.apiId,
      http: {
        method: request.method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey: via.routeKey,
      stage: "$default",
      time: logTime(now),
      timeEpoch: now.getTime(),
    },
    ...(via.pathParameters ? { pathParameters: via.pathParameters } : {}),
    ...body,
  };
}

/** Lower-case names; what came twice is joined with a comma; cookies travel apart. */
function readHeaders(request: FrontRequest): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!.toLowerCase();
    const value = request.rawHeaders[i + 1]!;
    if (HOP_BY_HOP.has(name)) continue;
    if (name === "cookie") cookies.push(...value.split(/; */).filter(Boolean));
    else headers[name] = Object.hasOwn(headers, name) ? `${headers[name]},${value}` : value;
  }
  if (request.body.length) headers["content-length"] = String(request.body.length);
  headers["x-amzn-trace-id"] ??= request.traceId;
  headers["x-forwarded-for"] = [headers["x-forwarded-for"], request.sourceIp].filter(Boolean).join(", ");
  headers["x-forwarded-port"] = String(request.port);
  headers["x-forwarded-proto"] = "http";
  return { headers, cookies };
}

function readQuery(raw: string): Record<string, string> | undefined {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(raw)) {
    query[name] = Object.hasOwn(query, name) ? `${query[name]},${value}` : value;
  }
  return Object.keys(query).length ? query : undefined;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The common log format's time: `12/Mar/2026:19:03:58 +0000`. */
function logTime(at: Date): string {
  const [, day, month, year, time] = at.toUTCString().split(/,? /);
  return `${day}/${month}/${year}:${time} +0000`;
}
