import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { afterSilence } from "../lib/patience.ts";

const WITHIN_MS = 10;

/** Two ends of one connection. */
async function connection(): Promise<{ near: Socket; far: Socket } & Disposable> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as { port: number }).port, "127.0.0.1");
  const [[far]] = (await Promise.all([once(server, "connection"), once(near, "connect")])) as [
    [Socket],
    unknown,
  ];
  const end = () => {
    near.destroy();
    far.destroy();
    server.close();
  };
  return { near, far, [Symbol.dispose]: end };
}

/** As long as another process has the core. */
function standStill(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test("an answer that came while the process stood still is read before it is called silent", async () => {
  using ends = await connection();
  const outcome = await new Promise((resolve) => {
    const callOff = afterSilence(WITHIN_MS, () => resolve("silent"));
    ends.near.once("data", () => {
      callOff();
      resolve("answered");
    });
    ends.far.write("here");
    standStill(3 * WITHIN_MS);
  });
  expect(outcome).toBe("answered");
});

test("when nothing has come it is silent", async () => {
  const outcome = await new Promise((resolve) => afterSilence(WITHIN_MS, () => resolve("silent")));
  expect(outcome).toBe("silent");
});

test("a verdict that is called off while the socket is read never comes", async () => {
  const verdicts: string[] = [];
  const callOff = afterSilence(WITHIN_MS, () => verdicts.push("silent"));
  const next = new Promise((resolve) => setTimeout(resolve, WITHIN_MS));
  // Both are due by then: this runs in the same turn in which the verdict was put off.
  standStill(3 * WITHIN_MS);
  await next;
  callOff();
  await new Promise((resolve) => afterSilence(WITHIN_MS, () => resolve(undefined)));
  expect(verdicts).toEqual([]);
});
