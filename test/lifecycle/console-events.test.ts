// Console test events in real sandboxes of the built function, without API Gateway in front, on real nodes.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environmentOf } from "../../infra/local/environment.ts";
import { readFunctions } from "../../infra/local/functions.ts";
import { Pool } from "../../infra/local/pool.ts";
import { Cluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const EVENTS = join(ROOT, "test", "events");

let cluster: Cluster;
let pool: Pool;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: { a: "4x8", b: "2x4" } });
  const fleetFile = join(cluster.dir, "fleet.yaml");
  writeFileSync(fleetFile, "fleet: lab\nnodes: [{ name: a }, { name: b }]\n");
  const { natsUrl, dynamodbUrl } = cluster;
  const fn = readFunctions(join(ROOT, "serverless.yml")).find(({ name }) => name === "ec2")!;
  const env = environmentOf(fn, { fleetFile, natsUrl, dynamodbUrl });
  pool = new Pool({ fn, taskRoot: ROOT, env, limit: 4, onLine: () => {}, onSandbox: () => {} });
});

afterAll(async () => {
  pool?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const starts = () => [...cluster.daemon("a").starts(), ...cluster.daemon("b").starts()];
const example = (name: string) => JSON.parse(readFileSync(join(EVENTS, `ec2-${name}.json`), "utf8"));

// biome-ignore lint/suspicious/noExplicitAny: what the console would show
async function invoke(event: unknown): Promise<any> {
  const answer = await pool.invoke(event);
  if (answer.outcome !== "answered") throw new Error(JSON.stringify(answer));
  return JSON.parse(answer.body.toString());
}

test("an event launches, another shows it, another ends it", async () => {
  const launched = await invoke(example("run-instances"));
  const ids = launched.Instances.map(({ InstanceId }: { InstanceId: string }) => InstanceId);
  expect(ids).toHaveLength(2);
  await eventually("both have started", () => starts().length === 2);
  expect(starts().toSorted()).toEqual(ids.toSorted());

  const shown = await invoke(example("describe-instances"));
  expect(shown.Reservations).toMatchObject([{ ReservationId: launched.ReservationId, Instances: [{}, {}] }]);

  const ended = await invoke({ Action: "TerminateInstances", InstanceId: ids });
  expect(ended.TerminatingInstances).toHaveLength(2);
  await eventually(
    "nothing runs",
    async () => (await invoke(example("describe-instances"))).Reservations.length === 0,
  );
});

test("an event that a full fleet refuses is answered with the code, and started nothing", async () => {
  const before = starts();
  const answer = await invoke({ ...example("run-instances"), MinCount: 4, MaxCount: 4 });
  expect(answer).toMatchObject({ error: { code: "InsufficientInstanceCapacity" } });
  expect(starts()).toEqual(before);
});

test("an event with DryRun is answered as such, and one about an unknown instance names it", async () => {
  const [dry, unknown] = [example("run-instances-dry-run"), example("terminate-instances")];
  expect(await invoke(dry)).toMatchObject({ error: { code: "DryRunOperation" } });
  expect(await invoke(unknown)).toMatchObject({
    error: { code: "InvalidInstanceID.NotFound", message: expect.stringContaining(unknown.InstanceId[0]) },
  });
});
