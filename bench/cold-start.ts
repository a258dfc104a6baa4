// Cold start: a fresh sandbox of functions/ec2 beside a fresh one of a handler that does nothing.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CREDENTIALS } from "../infra/local/account.ts";
import { environmentOf } from "../infra/local/environment.ts";
import { type LambdaFunction, readFunctions } from "../infra/local/functions.ts";
import { Pool } from "../infra/local/pool.ts";
import { readWindows } from "../lib/windows.ts";
import { Cluster } from "../test/support/cluster.ts";
import type { Findings } from "./figure.ts";
import { median, repeat } from "./sample.ts";
import { apiGatewayEvent, signLaunch } from "./signed-request.ts";

const ROOT = join(import.meta.dirname, "..");
const ROUNDS = 20;
const WITHIN_MS = 40_000;
const AIM_INIT = 2.5;
const AIM_FIRST = 4;

interface Cold {
  /** From starting the process until it asks for its first invocation. */
  initMs: number;
  /** From the same start until its first answer. */
  firstMs: number;
}

export async function measureColdStart(): Promise<Findings> {
  await using cluster = await Cluster.start({ nodes: { a: "2000x2000" }, windows: readWindows(undefined) });
  const fleetFile = join(cluster.dir, "fleet.yaml");
  writeFileSync(fleetFile, JSON.stringify({ fleet: "bench", expectedNodes: 1, nodes: [{ name: "a" }] }));
  const ec2 = readFunctions(join(ROOT, "serverless.yml")).find(({ name }) => name === "ec2")!;
  const bare: LambdaFunction = { ...ec2, name: "bare", handler: "bench/bare.handler" };
  const places = { fleetFile, natsUrl: cluster.natsUrl, dynamodbUrl: cluster.dynamodbUrl };
  // Without the local stack's source maps, which AWS is not given: reading them takes a fifth of a start.
  const env = { ...environmentOf(ec2, places), NODE_OPTIONS: "" };
  const event = apiGatewayEvent(await signLaunch({ host: "gateway.example.net", credentials: CREDENTIALS }));

  const rounds: { bare: Cold; ec2: Cold }[] = [];
  await repeat({ rounds: ROUNDS, withinMs: WITHIN_MS }, async () => {
    rounds.push({ bare: await startCold(bare, env, event), ec2: await startCold(ec2, env, event) });
  });
  const p50 = (fn: "bare" | "ec2", what: keyof Cold) => median(rounds.map((round) => round[fn][what]));
  return {
    figures: [
      {
        figure: "cold-start.init",
        value: p50("ec2", "initMs") / p50("bare", "initMs"),
        unit: "x",
        aim: { atMost: AIM_INIT },
        beside: { ec2Ms: p50("ec2", "initMs"), bareMs: p50("bare", "initMs"), starts: rounds.length },
        how: "p50 from starting a sandbox of functions/ec2 until it asks for work, over the same of a handler that does nothing; in turn",
      },
      {
        figure: "cold-start.first-launch",
        value: p50("ec2", "firstMs") / p50("bare", "firstMs"),
        unit: "x",
        aim: { atMost: AIM_FIRST },
        beside: { ec2Ms: p50("ec2", "firstMs"), bareMs: p50("bare", "firstMs"), starts: rounds.length },
        how: "p50 from starting a sandbox to the answer of a launch in it, over the same to a bare handler's first answer; in turn",
      },
    ],
  };
}

/** A pool of one sandbox, started, asked once, and ended. */
async function startCold(fn: LambdaFunction, env: Record<string, string>, event: unknown): Promise<Cold> {
  const gone = Promise.withResolvers<void>();
  const start = performance.now();
  const pool = new Pool({
    fn,
    env,
    taskRoot: ROOT,
    limit: 1,
    onLine: () => {},
    onSandbox: (_pid, alive) => {
      if (!alive) gone.resolve();
    },
  });
  try {
    const fault = await pool.provision();
    const initMs = performance.now() - start;
    if (fault) throw new Error(`a sandbox of ${fn.name} does not start: ${fault}`);
    const answer = await pool.invoke(event);
    const firstMs = performance.now() - start;
    const body = answer.outcome === "answered" ? answer.body.toString() : answer.outcome;
    if (!body.includes('"statusCode":200')) throw new Error(`the first answer of ${fn.name} was ${body}`);
    return { initMs, firstMs };
  } finally {
    pool.close();
    // The next one is not to be measured beside this one's end.
    await gone.promise;
  }
}
