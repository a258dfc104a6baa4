// A house for parts that a test starts without a whole stack.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Guard } from "../../infra/local/guard.ts";
import { Journal } from "../../infra/local/journal.ts";
import type { House } from "../../infra/local/part.ts";

export interface TestHouse extends House, AsyncDisposable {
  folder: string;
  /** What a person would have read. */
  shown: string[];
}

export function openHouse(): TestHouse {
  const folder = mkdtempSync(join(tmpdir(), "nightporter-test-"));
  const shown: string[] = [];
  const guard = new Guard();
  guard.folder(folder);
  const house: TestHouse = {
    folder,
    shown,
    guard,
    journal: new Journal(join(folder, "local.log"), (text) => shown.push(text)),
    parts: [],
    closed: false,
    [Symbol.asyncDispose]: async () => {
      house.closed = true;
      await Promise.all(house.parts.map((part) => part.stop(0)));
      await house.journal.close();
      await guard.close();
    },
  };
  return house;
}
