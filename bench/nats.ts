// A nats-server for daemons that no test cluster starts: the local stack's own part, with a house of its own.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GATEWAY_USER, nodeUser } from "../infra/local/account.ts";
import { Guard } from "../infra/local/guard.ts";
import { Journal } from "../infra/local/journal.ts";
import { startNats } from "../infra/local/nats.ts";
import type { House } from "../infra/local/part.ts";

const GRACE_MS = 1000;

export interface BenchNats extends AsyncDisposable {
  url: string;
}

/** @param names nodes that the server lets in */
export async function startBenchNats(names: readonly string[]): Promise<BenchNats> {
  const folder = mkdtempSync(join(tmpdir(), "nightporter-bench-"));
  const guard = new Guard();
  guard.folder(folder);
  const house: House = { guard, journal: new Journal(join(folder, "log")), parts: [], closed: false };
  const close = async () => {
    for (const part of house.parts) {
      part.letGo();
      await part.stop(GRACE_MS);
    }
    await house.journal.close();
    // Removes the folder too.
    await guard.close();
  };
  try {
    const { url } = await startNats(
      { folder: join(folder, "nats"), gateway: GATEWAY_USER, nodes: names.map(nodeUser), anyPorts: true },
      house,
    );
    return { url, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
