// API Gateway's HTTP API: which function a request is for, and what becomes of its answer.

import { setTimeout as delay } from "node:timers/promises";
import type { LambdaFunction, Route } from "./functions.ts";
import { API_GATEWAY, type HttpAnswer, readResult } from "./gateway-answer.ts";
import { type FrontRequest, httpApiDomain, lambdaEvent } from "./lambda-event.ts";
import type { Pool } from "./pool.ts";
import type { Answer } from "./runtime-api.ts";

/** A function may run on, but API Gateway waits no longer; this is the HTTP API's fixed limit. */
const INTEGRATION_MS = 30_000;
/** API Gateway's payload limit, and Lambda's for an invocation and its answer. */
export const GATEWAY_BYTES = 10 * 1024 * 1024;
export const LAMBDA_BYTES = 6 * 1024 * 1024;

const API_ID = "nightporter";

interface Match {
  fn: LambdaFunction;
  route: Route;
  pathParameters?: Record<string, string>;
}

export async function answerHttpApi(
  request: FrontRequest,
  pools: ReadonlyMap<string, Pool>,
): Promise<HttpAnswer> {
  const path = decode(request.url.split("?")[0]!);
  const match = matchRoute(
    [...pools.values()].map(({ fn }) => fn),
    request.method,
    path,
  );
  if (!match) return API_GATEWAY.notFound();
  const event = lambdaEvent(request, {
    apiId: API_ID,
    domainName: httpApiDomain(API_ID),
    routeKey: `${match.route.method} ${match.route.path}`,
    rawPath: path,
    ...(match.pathParameters ? { pathParameters: match.pathParameters } : {}),
  });
  if (Buffer.byteLength(JSON.stringify(event)) > LAMBDA_BYTES) return API_GATEWAY.tooLarge();
  const limit = new AbortController();
  const overran = delay(INTEGRATION_MS, API_GATEWAY.overran(), { signal: limit.signal });
  overran.catch(() => {});
  const answered = pools.get(match.fn.name)!.invoke(event, request.traceId).then(toHttp);
  return await Promise.race([answered, overran]).finally(() => limit.abort());
}

/** An HTTP API hands the path on decoded, unlike a Function URL (seen at AWS by several adapters' authors). */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function toHttp(answer: Answer | { outcome: "throttled" }): Promise<HttpAnswer> {
  switch (answer.outcome) {
    case "answered":
      if (answer.body.length > LAMBDA_BYTES) return API_GATEWAY.failed();
      return readResult(answer.body) ?? API_GATEWAY.failed();
    case "streaming": {
      // Not invoked for streaming, so the bytes arrive as they are, prelude and all.
      const bytes = await answer.body.toArray().catch(() => []);
      return readResult(Buffer.concat(bytes)) ?? API_GATEWAY.failed();
    }
    case "throttled":
      return API_GATEWAY.throttled();
    case "failed":
    case "died":
    case "timed-out":
      return API_GATEWAY.failed();
    default:
      throw new Error(answer satisfies never);
  }
}

/** The most specific route wins: an exact path before a variable, a method before ANY. */
export function matchRoute(
  functions: readonly LambdaFunction[],
  method: string,
  path: string,
): Match | undefined {
  const matches = functions.flatMap((fn) =>
    fn.routes.flatMap((route) => {
      if (route.method !== "ANY" && route.method !== method) return [];
      const found = pathPattern(route.path).exec(path);
      return found ? [{ fn, route, groups: { ...found.groups } }] : [];
    }),
  );
  const [best] = matches.toSorted((a, b) => rank(a.route) - rank(b.route));
  if (!best) return undefined;
  const named = Object.keys(best.groups).length > 0;
  return { fn: best.fn, route: best.route, ...(named ? { pathParameters: best.groups } : {}) };
}

function pathPattern(path: string): RegExp {
  const source = path
    .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
    .replace(/\{(\w+)(\\\+)?\}/g, (_, name, greedy) => (greedy ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`));
  return new RegExp(`^${source}$`);
}

const rank = ({ method, path }: Route): number =>
  (path.includes("+}") ? 4 : path.includes("{") ? 2 : 0) + (method === "ANY" ? 1 : 0);
