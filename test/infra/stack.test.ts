import { expect, test } from "vitest";
import { startStack } from "../support/stack.ts";

test("health is answered on both faces of a gateway", async () => {
  await using stack = await startStack({ nodes: 1 });

  for (const url of [stack.url, stack.streamUrl]) {
    const response = await fetch(`${url}/health`);
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  }
});
