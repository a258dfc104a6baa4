// A launch that fits at once: what the product adds to one NATS request.

import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readWindows } from "../lib/windows.ts";
import { Cluster } from "../test/support/cluster.ts";
import { openBareRequest, weighLaunch } from "./bare-request.ts";
import type { Findings } from "./figure.ts";
import { type Gateway, type Launched, openGateway } from "./gateway.ts";
import { median, quantile, repeat, timed } from "./sample.ts";

/** Room for every launch of a run, so that none has to be ended in between. */
const ROOMY = "20000x20000";
/** Until the compiler has seen the hot paths on both sides. */
const WARM_UP = 150;
const ROUNDS = 600;
const WITHIN_MS = 30_000;
const AIM_RATIO = 2.5;

export async function measureLaunch(): Promise<Findings> {
  await using cluster = await Cluster.start({
    nodes: { a: ROOMY, b: ROOMY, c: ROOMY },
    windows: readWindows(undefined),
  });
  await using gateway = await openGateway(cluster);
  const launch = () => launched(gateway);
  const size = await weighLaunch(cluster, launch);
  await using bare = await openBareRequest(cluster, size);
  const sync = syncedFiles(cluster.dir, size.replyBytes);

  const samples: { launch: Launched; bareMs: number; syncMs: number }[] = [];
  await repeat({ rounds: WARM_UP + ROUNDS, withinMs: WITHIN_MS }, async (at) => {
    const bareMs = (await timed(() => bare.send())).ms;
    const sample = { bareMs, launch: await launch(), syncMs: (await timed(() => sync(at))).ms };
    if (at >= WARM_UP) samples.push(sample);
  });
  const whole = samples.map(({ launch: { ms } }) => ms);
  const less = samples.map(({ launch: { ms, writesMs } }) => ms - writesMs);
  const bareMs = median(samples.map((sample) => sample.bareMs));
  const syncMs = median(samples.map((sample) => sample.syncMs));
  const launches = samples.length;
  return {
    figures: [
      {
        figure: "launch.over-bare-request",
        value: median(less) / bareMs,
        unit: "x",
        aim: { atMost: AIM_RATIO },
        beside: {
          launchLessWritesMs: median(less),
          bareRequestMs: bareMs,
          ...stretches(samples.map((sample) => sample.launch)),
          writesMs: median(samples.map((sample) => sample.launch.writesMs)),
          syncedFileMs: syncMs,
          lessOneSyncedFile: (median(less) - syncMs) / bareMs,
          ...size,
          launches,
        },
        how: "p50 of RunInstances through the handler less its table writes, over p50 of a bare NATS request of as many bytes; in turn, 3 daemons",
      },
      ...[0.5, 0.99].map((share) => ({
        figure: `launch.whole-p${share * 100}`,
        value: quantile(whole, share),
        unit: "ms",
        beside: {
          bareRequestMs: quantile(
            samples.map((sample) => sample.bareMs),
            share,
          ),
          launches,
        },
        how: "RunInstances through the handler, table writes on dynalite and all",
      })),
    ],
  };
}

async function launched(gateway: Gateway): Promise<Launched> {
  const launch = await gateway.launch();
  if (launch.status !== 200)
    throw new Error(`a launch with room everywhere got ${launch.status} ${launch.code}`);
  return launch;
}

/** Where the time goes: before the first table write, between the two, after the second. */
function stretches(launches: readonly Launched[]): Record<string, number> {
  const p50 = (at: number) => median(launches.map(({ betweenMs }) => betweenMs[at]!));
  return { parseAndAuthoriseMs: p50(0), nodesMs: p50(1), renderMs: p50(2) };
}

/** What the disk takes for one small file that is written, synced and renamed, as a node does for each instance. */
function syncedFiles(folder: string, bytes: number): (at: number) => void {
  const dir = mkdtempSync(join(folder, "sync-"));
  return (at) => {
    const file = join(dir, String(at));
    const fd = openSync(`${file}.new`, "w");
    writeSync(fd, "x".repeat(bytes));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(`${file}.new`, file);
  };
}
