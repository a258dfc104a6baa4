import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/processes.ts";
import { type Front, startFront } from "./front.ts";

let front: Front;
beforeAll(async () => {
  front = await startFront();
});
afterAll(() => front[Symbol.asyncDispose]());

const ask = (path: string, init?: RequestInit) => fetch(`${front.url}${path}`, init);
const eventOf = async (path: string, init?: RequestInit) =>
  (await (await ask(path, init)).json()) as APIGatewayProxyEventV2;

describe("the event", () => {
  test("a form body travels as base64, as it does on AWS", async () => {
    const event = await eventOf("/", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "Action=DescribeInstances",
    });

    expect(event).toMatchObject({ version: "2.0", routeKey: "POST /", isBase64Encoded: true });
    expect(Buffer.from(event.body!, "base64").toString()).toBe("Action=DescribeInstances");
    expect(event.headers["content-length"]).toBe("24");
  });

  test("a JSON body travels as text", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const event = await eventOf("/", { method: "POST", headers, body: '{"é":1}' });

    expect(event).toMatchObject({ body: '{"é":1}', isBase64Encoded: false });
  });

  test("headers are lower-case, repeated ones joined; cookies travel apart", async () => {
    const headers = new Headers([
      ["X-Two", "a"],
      ["X-Two", "b"],
      ["cookie", "c=1; d=2"],
    ]);
    const event = await eventOf("/?a=1&a=2&b=%20", { headers });

    expect(event.headers["x-two"]!.replaceAll(" ", "")).toBe("a,b");
    expect(event.headers).not.toHaveProperty("cookie");
    expect(event).toMatchObject({
      cookies: ["c=1", "d=2"],
      rawPath: "/",
      rawQueryString: "a=1&a=2&b=%20",
      queryStringParameters: { a: "1,2", b: " " },
      requestContext: { stage: "$default", http: { method: "GET", path: "/", sourceIp: "127.0.0.1" } },
    });
    expect(event).not.toHaveProperty("body");
  });

  test("the path arrives decoded, as an HTTP API does it", async () => {
    expect(await eventOf("/v1/nodes/a%20b?q=%20")).toMatchObject({
      rawPath: "/v1/nodes/a b",
      rawQueryString: "q=%20",
      pathParameters: { node: "a b" },
    });
  });

  test("the most specific route wins and names its variables", async () => {
    expect(await eventOf("/v1/nodes/a")).toMatchObject({
      routeKey: "GET /v1/nodes/{node}",
      pathParameters: { node: "a" },
    });
    expect(await eventOf("/v1/chat/completions")).toMatchObject({
      routeKey: "ANY /v1/{proxy+}",
      pathParameters: { proxy: "chat/completions" },
    });
  });
});

describe("the answer", () => {
  test("status, headers, cookies and a base64 body become a response", async () => {
    const response = await ask("/");

    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  test("a result without a status is the body of a 200", async () => {
    const response = await ask("/?raw=1");

    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([200, ["pid"]]);
  });

  test.for([
    ["no such route", "/nowhere", 404, "Not Found"],
    ["a handler that throws", "/?throw=1", 500, "Internal Server Error"],
    ["a sandbox that dies", "/?crash=1", 500, "Internal Server Error"],
    ["a function that does not start", "/broken", 500, "Internal Server Error"],
    ["an answer beyond 6 MB", "/?bytes=7000000", 500, "Internal Server Error"],
    ["a stream, which API Gateway did not ask for", "/streaming", 500, "Internal Server Error"],
  ] as [string, string, number, string][])(
    "%s is answered in API Gateway's words",
    async ([, path, status, message]) => {
      const response = await ask(path);

      expect([response.status, await response.json()]).toEqual([status, { message }]);
    },
  );

  test("a body beyond 10 MB, or 6 MB for Lambda, is refused with 413", async () => {
    for (const bytes of [11_000_000, 7_000_000]) {
      const response = await ask("/", { method: "POST", body: "x".repeat(bytes) });
      expect([response.status, await response.json()]).toEqual([
        413,
        { message: "Request Entity Too Large" },
      ]);
    }
  });

  test("a function that overruns its time is killed and answered with 500", async () => {
    const response = await ask("/brief?sleep=5000", { method: "POST" });

    expect(response.status).toBe(500);
    expect(front.lines.join("\n")).toContain("Task timed out after 1.00 seconds");
  });
});

describe("sandboxes", () => {
  const pidOf = async (path = "/") => Number((await ask(path)).headers.get("x-pid"));

  test("one after another share a sandbox; at the same time each has its own", async () => {
    const first = await pidOf();
    expect(await pidOf()).toBe(first);

    const together = await Promise.all([pidOf("/?sleep=300"), pidOf("/?sleep=300"), pidOf("/?sleep=300")]);
    expect(new Set(together).size).toBe(3);
  });

  test("one that died is replaced at the next request", async () => {
    const first = await pidOf();
    process.kill(first, "SIGKILL");
    await eventually("the sandbox is gone", () => !isAlive(first));

    expect(await pidOf()).not.toBe(first);
  });
});
