// Every verb of the table, against a real daemon, with what does not fit its row.

import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod/mini";
import { VERBS, type Verb, verbSubject } from "../../lib/wire.ts";
import { Cluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: { a: "4x8" } });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

const GARBAGE = [null, 7, "text", [], { launch: 1 }, { ids: "i-1", count: -1 }];

test.each(Object.keys(VERBS) as Verb[])(
  "%s: an ask that does not fit its schema changes nothing and the daemon goes on",
  async (verb) => {
    const exchange = await cluster.exchange();
    for (const body of GARBAGE) exchange.tell(verbSubject("a", verb, "gateway"), body);
    const status = await eventually("the daemon answers", () => cluster.status("a"));
    expect(status).toMatchObject({ held: 0, instances: 0, joined: true });
  },
);

test("a launch that does not fit is answered, not ignored", async () => {
  const exchange = await cluster.exchange();
  for (const body of GARBAGE) {
    const asked = await exchange.request("ec2.RunInstances", body, z.object({ Code: z.string() }), 1000);
    expect(asked).toMatchObject({ outcome: "answered", answer: { Code: "ValidationError" } });
  }
  const unknown = { ImageId: "ami-0000000000000000a", InstanceType: "no.such", MinCount: 1, MaxCount: 1 };
  const asked = await exchange.request("ec2.RunInstances", unknown, z.object({ Code: z.string() }), 1000);
  expect(asked).toMatchObject({ outcome: "answered", answer: { Code: "InvalidInstanceType" } });
});

test("what did not fit is logged with its subject", async () => {
  const exchange = await cluster.exchange();
  exchange.tell(verbSubject("a", "hold", "gateway"), { launch: 1 });
  await eventually("the line is there", () =>
    /"level":"error".*hive\.node\.a\.hold\.gateway/.test(cluster.daemon("a").log),
  );
});
