// More daemons than this machine could run as processes: the real daemon many times over in this process, each with a
// connection, a name and a folder of its own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeUser } from "../infra/local/account.ts";
import { parseSize } from "../lib/capacity.ts";
import { type Daemon, startDaemon } from "../lib/node/daemon.ts";
import type { Log } from "../lib/node/log.ts";
import { readWindows } from "../lib/windows.ts";

/** Each waits for the others' greetings for a moment; more at once only keep each other waiting. */
const STARTING_AT_A_TIME = 8;

/** Says each thing once: two hundred daemons that wait for the same server say the same. */
function quietLog(): Log {
  const said = new Set<string>();
  return {
    info: () => {},
    error: (event, error) => {
      const line = `daemon: ${event}: ${error}`;
      if (!said.has(line)) console.error(line);
      said.add(line);
    },
  };
}

/** @param natsUrl a server that knows these nodes as users */
export async function startManyDaemons(names: readonly string[], natsUrl: string): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "nightporter-bench-"));
  const abort = new AbortController();
  const log = quietLog();
  const daemons: Daemon[] = [];
  const waiting = [...names];
  const starter = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const { password } = nodeUser(name);
      const settings = {
        name,
        total: parseSize("8x16")!,
        dataDir: join(folder, name),
        driver: "memory",
        bootMs: 0,
        expectedNodes: undefined,
        nats: { url: natsUrl, user: name, password },
        windows: readWindows(undefined),
      } as const;
      daemons.push(await startDaemon(settings, log, abort.signal));
    }
  };
  await Promise.all(Array.from({ length: STARTING_AT_A_TIME }, starter));
  return {
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
