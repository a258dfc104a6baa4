// `npm run bench -- [NAMES] [--list]`: one JSON line per figure on stdout, a table for people on stderr.

import { parseArgs } from "node:util";
import { build } from "../infra/build.ts";
import { childrenOf } from "../test/support/processes.ts";
import { measureAsk } from "./ask.ts";
import { measureBundle } from "./bundle.ts";
import { measureColdStart } from "./cold-start.ts";
import { measureExhaustion } from "./exhaustion.ts";
import { type Figure, type Findings, jsonLine, tableOf } from "./figure.ts";
import { measureHeartbeats } from "./heartbeats.ts";
import { measureLaunch } from "./launch.ts";
import { measureThroughput } from "./throughput.ts";

/** THE TABLE of benchmarks. */
const BENCHMARKS: Readonly<Record<string, { says: string; run: () => Promise<Findings> }>> = {
  launch: { says: "RunInstances through the handler, beside a bare NATS request", run: measureLaunch },
  ask: { says: "what each full node adds that is asked before one has room", run: measureAsk },
  exhaustion: { says: "how soon a launch is refused when all nodes are full", run: measureExhaustion },
  throughput: { says: "launches per second through one gateway, beside moto_server", run: measureThroughput },
  "cold-start": { says: "a fresh sandbox, beside one that does nothing", run: measureColdStart },
  bundle: { says: "the size of functions/ec2", run: measureBundle },
  heartbeats: { says: "what an idle fleet says to itself", run: measureHeartbeats },
};

const BAD_USAGE = 2;

function chosen(): string[] {
  const { values, positionals } = parseArgs({
    options: { list: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const names = Object.keys(BENCHMARKS);
  if (values.list) {
    for (const name of names) console.log(`${name.padEnd(12)}${BENCHMARKS[name]!.says}`);
    process.exit(0);
  }
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown) throw new Error(`"${unknown}" is no benchmark; there are ${names.join(", ")}`);
  return positionals.length > 0 ? positionals : names;
}

/** Ends everything below this process, the youngest first. */
function endChildren(pid: number): void {
  for (const child of childrenOf(pid)) {
    endChildren(child.pid);
    try {
      process.kill(child.pid, "SIGKILL");
    } catch {
      // Gone already.
    }
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    endChildren(process.pid);
    process.exit(1);
  });
}

async function main(names: readonly string[]): Promise<void> {
  await build();
  const figures: Figure[] = [];
  for (const name of names) {
    const start = performance.now();
    console.error(`${name}: ${BENCHMARKS[name]!.says} …`);
    try {
      const found = await BENCHMARKS[name]!.run();
      for (const figure of found.figures) console.log(jsonLine(figure));
      figures.push(...found.figures);
      if (found.omitted) console.error(`${name}: omitted: ${found.omitted}`);
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
      process.exitCode = 1;
    }
    console.error(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  }
  console.error(`\n${tableOf(figures)}`);
}

let names: string[] = [];
try {
  names = chosen();
} catch (error) {
  console.error(`nightporter: ${(error as Error).message}`);
  process.exit(BAD_USAGE);
}
await main(names);
// Whatever a benchmark that failed has left open does not keep this process.
endChildren(process.pid);
process.exit();
