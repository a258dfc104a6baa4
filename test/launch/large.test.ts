// Launches and listings near EC2's own limits, through NATS with its 1 MiB a message.

import { expect, test } from "vitest";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";

const COUNT = 1000;
/** Sizes are tried here, not times: a node writes and syncs a file per instance. */
const PATIENT = { commitMs: 20_000, gatherMs: 10_000, quietMs: 20_000, changeMs: 20_000, readMs: 10_000 };
const TAGS = Array.from({ length: 50 }, (_, i) => ({
  Key: `key-${i}`.padEnd(100, "k"),
  Value: "v".repeat(200),
}));

test("a launch of 1000 instances with 50 long tags and full user data, on two nodes, is answered and listed whole", async () => {
  await using cluster = await Cluster.start({ nodes: { a: "1400x2000", b: "1400x2000" }, windows: PATIENT });
  const { launch, instances } = cluster.gateway();
  const wanted = request(COUNT);
  const input = {
    ...wanted.input,
    UserData: Buffer.alloc(16 * 1024, "u").toString("base64"),
    TagSpecifications: [{ ResourceType: "instance", Tags: TAGS }],
  };
  const started = await launch({ ...wanted, input }, PRINCIPAL, call());
  expect(started.map(({ index }) => index)).toEqual(Array.from({ length: COUNT }, (_, index) => index));
  const listed = await instances.describe(PRINCIPAL.account, undefined);
  expect(listed.map(({ id }) => id).sort()).toEqual(started.map(({ id }) => id).sort());
  expect(listed.every(({ tags }) => tags.length === TAGS.length)).toBe(true);
  const ended = await instances.change(
    PRINCIPAL.account,
    "terminate",
    started.map(({ id }) => id),
  );
  expect(ended).toHaveLength(COUNT);
});

test("a launch whose parameters are too large for a message is refused with 413, and nothing is claimed", async () => {
  await using cluster = await Cluster.start({ nodes: { a: "4x8" } });
  const { launch } = cluster.gateway();
  const wanted = request(1, { clientToken: "large" });
  const huge = { ...wanted, input: { ...wanted.input, Junk: "j".repeat(600 * 1024) } };
  await expect(launch(huge, PRINCIPAL, call())).rejects.toMatchObject({
    code: "RequestEntityTooLarge",
    status: 413,
  });
  expect(await launch(wanted, PRINCIPAL, call())).toHaveLength(1);
});
