import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Front, startFront } from "./front.ts";

let front: Front;
beforeAll(async () => {
  front = await startFront({ sandboxes: 2 });
});
afterAll(() => front[Symbol.asyncDispose]());

const ask = (path: string) => fetch(`${front.streamUrl}${path}`);

test("the prelude becomes status, headers and cookies", async () => {
  const response = await ask("/any/path");

  expect(response.status).toBe(202);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.getSetCookie()).toEqual(["a=1"]);
  expect(await response.text()).toBe("one two three");
});

test("each chunk arrives when it is written", async () => {
  const response = await ask("/?pause=300");
  const start = performance.now();
  const reader = response.body!.getReader();
  const { value } = await reader.read();

  expect(Buffer.from(value!).toString()).toBe("one ");
  expect(performance.now() - start).toBeLessThan(200);
  await reader.cancel();
});

test("a stream without a prelude is a 200 of its own type", async () => {
  const response = await ask("/?plain=1");

  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    200,
    "application/octet-stream",
    "one two three",
  ]);
});

test("a handler that throws before its first byte is a 502", async () => {
  expect((await ask("/?early=1")).status).toBe(502);
});

test.for(["late", "crash"])("a stream that breaks off (%s) has no end mark", async (how) => {
  const response = await ask(`/?${how}=1`);

  expect(response.status).toBe(202);
  await expect(response.text()).rejects.toThrow();
});

test("a caller who leaves does not stop the function", async () => {
  const caller = new AbortController();
  await fetch(`${front.streamUrl}/?pause=50`, { signal: caller.signal });
  const [sandbox] = front.sandboxes();
  caller.abort();

  await eventually("it serves the next", async () => (await (await ask("/")).text()) === "one two three");
  expect(front.sandboxes()).toContain(sandbox);
});

test("beyond its sandboxes a function is throttled with 429", async () => {
  await using fresh = await startFront({ sandboxes: 2 });
  const stream = async () => (await fetch(`${fresh.streamUrl}/?pause=300`)).status;

  expect((await Promise.all([stream(), stream(), stream()])).toSorted()).toEqual([202, 202, 429]);
});
