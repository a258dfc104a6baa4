// How a coordinator asks, seen on the wire.

import type { Msg } from "nats.ws";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Beat } from "../../lib/wire.ts";
import { audit } from "../support/audit.ts";
import { Cluster, call, PRINCIPAL, request } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Player } from "../support/player.ts";

let cluster: Cluster;

beforeEach(async () => {
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "4x8", c: "4x8", d: "4x8" } });
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

const NAMES = ["a", "b", "c", "d"];
const LAST_ASK = /^hive\.node\.(\w+)\.hold\.(\w+)$/;

/** Asks for room as they went over the wire. */
function asks(seen: readonly Msg[]) {
  return seen.flatMap((message) => {
    const found = LAST_ASK.exec(message.subject);
    return found
      ? [{ to: found[1]!, from: found[2]!, tried: message.headers?.get("Hive-Tried-Nodes") ?? "" }]
      : [];
  });
}

/** The vCPUs that a node's last heartbeat advertised. */
const lastSaidFree = (seen: readonly Msg[], node: string): number | undefined =>
  seen.findLast(({ subject }) => subject === `hive.beat.${node}`)?.json<Beat>().free.vcpu;

test("on a full fleet each node is asked once, at most N-1 asks are sent, and each names who was tried", async () => {
  for (const name of NAMES) await cluster.occupy(name, 2);
  const seen = await cluster.observe();
  const launching = cluster.gateway().launch(request(1), PRINCIPAL, call());
  await expect(launching).rejects.toMatchObject({ code: "InsufficientInstanceCapacity" });
  await cluster.observed();
  const sent = asks(seen);
  expect(sent).toHaveLength(NAMES.length - 1);
  expect(new Set(sent.map(({ to }) => to)).size).toBe(NAMES.length - 1);
  const coordinator = sent[0]!.from;
  sent.forEach(({ from, tried }, index) => {
    expect(from).toBe(coordinator);
    expect(tried.split(",")).toEqual([coordinator, ...sent.slice(0, index).map(({ to }) => to)]);
  });
});

test("a launch for which one node has room costs one ask and no more", async () => {
  const seen = await cluster.observe();
  for (const name of ["a", "b", "c"]) await cluster.occupy(name, 2);
  await eventually("the full ones have said so", () =>
    ["a", "b", "c"].every((name) => lastSaidFree(seen, name) === 0),
  );
  const player = await Player.sitDown(cluster, "one-ask", 2);
  seen.splice(0);
  for (let n = 1; n <= 5; n++) {
    // On the plain subject, so that full nodes coordinate too.
    const published = await player.publish(n);
    await cluster.observed();
    const sent = asks(seen.splice(0));
    expect(published).toMatchObject({ outcome: "answered" });
    expect(sent.length).toBeLessThanOrEqual(1);
    for (const { to } of sent) expect(to).toBe("d");
    // An attempt of its own each time: it drops what the one before still holds.
    if (published.outcome === "answered" && published.answer.outcome === "started") break;
  }
});

test("a node that is named as tried gives no room, the coordinator included", async () => {
  const player = await Player.sitDown(cluster, "tried", 1);
  const all = await player.publish(1, { tried: NAMES });
  expect(all).toMatchObject({
    outcome: "answered",
    answer: { outcome: "refused", why: "capacity", answered: [] },
  });
  const but = await player.publish(2, { tried: ["a", "b", "c"] });
  const started = but.outcome === "answered" ? but.answer : undefined;
  if (started?.outcome === "plan") expect(started.parts.map(({ node }) => node)).toEqual(["d"]);
  else expect(started).toMatchObject({ outcome: "started", node: "d" });
});

test("only busy starts another round: room that is held alone is waited for until it is decided", async () => {
  for (const name of ["b", "c", "d"]) await cluster.occupy(name, 2);
  const holder = await Player.sitDown(cluster, "holder", 2);
  expect(await holder.hold("a", 1)).toEqual({ outcome: "held", count: 2 });
  const seen = await cluster.observe();
  const launching = cluster.gateway().launch(request(1), PRINCIPAL, call());
  await eventually("a second round has begun", async () => {
    await cluster.observed();
    return asks(seen).length > NAMES.length - 1;
  });
  await holder.release("a", 1);
  expect((await launching).map(({ node }) => node)).toEqual(["a"]);
  await audit(cluster);
});

test("a whole is preferred to a split: the node that takes all of it gets it, and the parts go back", async () => {
  const seen = await cluster.observe();
  for (const name of ["a", "b", "c"]) await cluster.occupy(name, 1);
  for (let round = 0; round < 4; round++) {
    await eventually("all have said what is free", () =>
      NAMES.every((name) => lastSaidFree(seen, name) === (name === "d" ? 4 : 2)),
    );
    const started = await cluster.gateway().launch(request(2), PRINCIPAL, call());
    expect(started.map(({ node }) => node)).toEqual(["d", "d"]);
    seen.splice(0);
    await cluster.gateway().instances.change(
      PRINCIPAL.account,
      "terminate",
      started.map(({ id }) => id),
    );
    await audit(cluster);
  }
});

test("two launches of 3 on rooms 2+2 end in one reservation and one refusal, and no hold stays", async () => {
  await cluster.occupy("c", 2);
  await cluster.occupy("d", 2);
  const gateways = [cluster.gateway(), cluster.gateway()];
  const ended = await Promise.allSettled(gateways.map(({ launch }) => launch(request(3), PRINCIPAL, call())));
  const won = ended.filter(({ status }) => status === "fulfilled");
  const lost = ended.filter(({ status }) => status === "rejected");
  expect(won).toHaveLength(1);
  expect(lost).toMatchObject([{ reason: { code: "InsufficientInstanceCapacity" } }]);
  expect(await audit(cluster)).toHaveLength(4 + 3);
});

test("a plain request of today's clusters gets one reply: the Reservation, or Code and Message alone", async () => {
  const exchange = await cluster.exchange();
  const replies: unknown[] = [];
  const send = (count: number) =>
    exchange.open("ec2.RunInstances", { ...request(count).input, KeyName: null }, undefined, (reply) => {
      replies.push(reply.kind === "message" ? reply.body : reply.kind);
    });
  send(3);
  await eventually("the first reply is there", () => replies.length === 1);
  expect(replies[0]).toMatchObject({ OwnerId: "123456789012", Instances: [{}, {}, {}] });
  send(7);
  await eventually("the second reply is there", () => replies.length === 2);
  expect(replies[1]).toEqual({ Code: "InsufficientInstanceCapacity", Message: null });
  send(Number.NaN);
  await eventually("the third reply is there", () => replies.length === 3);
  expect(replies[2]).toMatchObject({ Code: "ValidationError" });
  await audit(cluster);
  expect(replies).toHaveLength(3);
});
