// A DynamoDB emulator of its own for a test, with the product's table in it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CREDENTIALS, REGION, TABLE } from "../../infra/local/account.ts";
import { startDynamodb } from "../../infra/local/dynamodb.ts";
import { Guard } from "../../infra/local/guard.ts";
import { Journal } from "../../infra/local/journal.ts";
import type { House } from "../../infra/local/part.ts";
import { ensureTable } from "../../infra/local/table.ts";

export interface Emulator {
  url: string;
  stop(): Promise<void>;
}

const GRACE_MS = 200;

export async function startEmulator(where: "dynalite" | "local"): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), "nightporter-emulator-"));
  const guard = new Guard();
  guard.folder(folder);
  const house: House = { guard, journal: new Journal(join(folder, "log")), parts: [], closed: false };
  const { url, part } = await startDynamodb({ where, anyPort: true }, house);
  await ensureTable({ ...CREDENTIALS, url, region: REGION, table: TABLE, ...(part ? { part } : {}) });
  return {
    url,
    stop: async () => {
      await part?.stop(GRACE_MS);
      await guard.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
