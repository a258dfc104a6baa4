// A function's answer as an HTTP response (payload format 2.0), and the words of AWS's own refusals.

export interface HttpAnswer {
  status: number;
  /** A value that is a list is sent as that many headers. */
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export const gatewayAnswer = (status: number, message: string): HttpAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify({ message })),
});

/** API Gateway's own answers, word for word. */
export const API_GATEWAY = {
  notFound: () => gatewayAnswer(404, "Not Found"),
  tooLarge: () => gatewayAnswer(413, "Request Entity Too Large"),
  throttled: () => gatewayAnswer(429, "Too Many Requests"),
  failed: () => gatewayAnswer(500, "Internal Server Error"),
  overran: () => gatewayAnswer(503, "Service Unavailable"),
} as const;

interface StructuredResult {
  statusCode?: unknown;
  headers?: Record<string, unknown>;
  cookies?: unknown[];
  body?: unknown;
  isBase64Encoded?: boolean;
}

/** The status and headers of a structured result or of a stream's prelude. */
export function readHead({
  statusCode,
  headers = {},
  cookies = [],
}: StructuredResult): Omit<HttpAnswer, "body"> {
  const read: HttpAnswer["headers"] = {};
  for (const [name, value] of Object.entries(headers)) {
    // The length is that of the bytes which are sent, whatever the function says.
    if (name.toLowerCase() !== "content-length") read[name.toLowerCase()] = String(value);
  }
  if (cookies.length) read["set-cookie"] = cookies.map(String);
  return { status: Number(statusCode ?? 200), headers: read };
}

/** @returns undefined for what API Gateway cannot make a response of */
export function readResult(payload: Buffer): HttpAnswer | undefined {
  let result: unknown;
  try {
    result = JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
  if (typeof result !== "object" || result === null || !("statusCode" in result)) {
    // Format 2.0 takes anything without a statusCode for the body of a 200.
    const body = typeof result === "string" ? result : JSON.stringify(result);
    return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
  }
  const structured = result as StructuredResult;
  const head = readHead(structured);
  if (!Number.isInteger(head.status) || head.status < 100 || head.status > 599) return undefined;
  head.headers["content-type"] ??= "text/plain; charset=utf-8";
  const body = structured.body === undefined || structured.body === null ? "" : String(structured.body);
  return { ...head, body: Buffer.from(body, structured.isBase64Encoded ? "base64" : "utf8") };
}
