// Throughput: launches per second through one gateway of the local stack, beside moto_server's.

import { availableParallelism } from "node:os";
import { type Stack, startStack } from "../test/support/stack.ts";
import type { Findings } from "./figure.ts";
import { type Load, load } from "./load.ts";
import { type Moto, startMoto } from "./moto.ts";
import { median } from "./sample.ts";
import { rawHttp, signLaunch } from "./signed-request.ts";

/** Room for all launches of a run. */
const NODES = ["a", "b", "c"].map((name) => `${name}=20000x20000`).join(",");
/** Each has a sandbox of its own, and those start cold: more of them on few cores only stay cold longer. */
const CONNECTIONS = 4;
const ROUNDS = 4;
const ROUND_MS = 4000;
/** Starts the sandboxes and lets the compilers see the hot paths. */
const WARM_UP_MS = 4000;
const AIM_TIMES = 5;

export async function measureThroughput(): Promise<Findings> {
  const moto = await startMoto();
  if (typeof moto === "string") return { figures: [], omitted: `throughput.over-moto: ${moto}` };
  await using _moto = moto;
  await using stack = await startStack({ nodes: NODES });
  await loadStack(stack, WARM_UP_MS);
  await loadMoto(stack, moto, WARM_UP_MS);
  const rounds: { ours: Load; motos: Load }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ ours: await loadStack(stack, ROUND_MS), motos: await loadMoto(stack, moto, ROUND_MS) });
  }
  const per = (pick: (round: { ours: Load; motos: Load }) => number) => rounds.map(pick);
  const ratios = per(({ ours, motos }) => ours.perSecond / motos.perSecond);
  return {
    figures: [
      {
        figure: "throughput.over-moto",
        value: median(ratios),
        unit: "x",
        aim: { atLeast: AIM_TIMES },
        beside: {
          launchesPerSecond: median(per(({ ours }) => ours.perSecond)),
          motoPerSecond: median(per(({ motos }) => motos.perSecond)),
          lowest: Math.min(...ratios),
          highest: Math.max(...ratios),
          otherAnswers: JSON.stringify(rounds.map(({ ours, motos }) => [ours.others, motos.others])),
          connections: CONNECTIONS,
          cores: availableParallelism(),
        },
        how: `RunInstances of one instance, one signed raw HTTP request repeated over ${CONNECTIONS} connections, ${ROUNDS} rounds of ${ROUND_MS / 1000} s in turn; ours through front, sandboxes, dynalite and 3 daemons that sync to disk, all on this machine; moto_server in memory`,
      },
    ],
  };
}

async function loadStack({ url, ready }: Stack, forMs: number): Promise<Load> {
  const request = rawHttp(await signLaunch({ host: new URL(url).host, credentials: ready }));
  return await load({ url, request, connections: CONNECTIONS, forMs });
}

async function loadMoto({ ready }: Stack, { url, imageId, reset }: Moto, forMs: number): Promise<Load> {
  const request = rawHttp(await signLaunch({ host: new URL(url).host, credentials: ready, imageId }));
  const found = await load({ url, request, connections: CONNECTIONS, forMs });
  await reset();
  return found;
}
