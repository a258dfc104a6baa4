// Reading instances of a fleet in which a node is frozen.

import { expect, test } from "vitest";
import { Cluster, PRINCIPAL } from "../support/cluster.ts";

/** Far longer than any healthy answer takes, on any machine. */
const READ_MS = 30_000;

test("what is asked for by id is answered when it is found, and does not wait for a frozen node", async () => {
  await using cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8" }, windows: { readMs: READ_MS } });
  const ids = await cluster.occupy("a", 2);
  const { instances } = cluster.gateway();
  cluster.daemon("b").freeze();
  const start = performance.now();
  const found = await instances.describe(PRINCIPAL.account, ids);
  const stopped = await instances.change(PRINCIPAL.account, "stop", ids);
  expect(performance.now() - start).toBeLessThan(READ_MS);
  expect(found.map(({ id }) => id)).toEqual(ids);
  expect(stopped).toHaveLength(2);
});
