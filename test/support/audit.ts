// What must be so after every launch, however it went: no id twice, nothing oversold, no hold left.

import { expect } from "vitest";
import { ACCOUNT } from "../../infra/local/account.ts";
import { type Instance, isLive } from "../../lib/instance.ts";
import type { Cluster } from "./cluster.ts";
import { eventually } from "./eventually.ts";

/** A release or a gather may still be on its way to a node that has just thawed. */
const SETTLED_MS = 5000;

/** @returns the live instances of all nodes that answer */
export async function audit(cluster: Cluster, names = [...cluster.daemons.keys()]): Promise<Instance[]> {
  const exchange = await cluster.exchange();
  const all: Instance[] = [];
  for (const name of names) {
    await eventually(
      `${name} holds nothing`,
      async () => (await cluster.status(name))?.held === 0,
      SETTLED_MS,
    );
    const status = (await cluster.status(name))!;
    expect(status.free.vcpu, `${name} is oversold`).toBeGreaterThanOrEqual(0);
    expect(status.free.memMiB, `${name} is oversold`).toBeGreaterThanOrEqual(0);
    const asked = await exchange.ask(name, "instances", { account: ACCOUNT }, 2000);
    if (asked.outcome === "answered")
      all.push(...asked.answer.instances.filter(({ state }) => isLive(state)));
  }
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size, "an id is on two nodes").toBe(ids.length);
  return all;
}
