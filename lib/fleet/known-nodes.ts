// The nodes that the gateway knows: those seen in the last day, kept in the table, since no sandbox remembers.
//
// What a node holds does not vanish with its daemon, so an instance is only declared unknown when every node that was
// seen lately has said that it does not have it. The fleet file's nodes are asked too, but owe no answer: a node that
// was never started holds nothing.

import * as z from "zod/mini";
import type { Fleet } from "../fleet-file.ts";
import { keys, type Table } from "../table.ts";

/** When each node was last seen, in epoch milliseconds. */
const seenSchema = z.record(z.string(), z.number());

const REMEMBER_MS = 24 * 60 * 60_000;
/** A sandbox writes the same name again after this, so that a node in use does not grow old. */
const WRITE_AGAIN_MS = 60 * 60_000;
/** Names are read anew after this; a node that appeared meanwhile is learned from the others' rosters. */
const READ_AGAIN_MS = 60_000;

export interface KnownNodes {
  /** Names seen in the last day, possibly a minute old. */
  seen(): Promise<string[]>;
  /** The same, read now. */
  seenNow(): Promise<string[]>;
  /** Names that the fleet file lists. */
  listed: readonly string[];
  /** How many nodes the fleet should have. */
  expected: number;
  /** Notes that these nodes have answered or were named by one that did. */
  saw(names: Iterable<string>): Promise<void>;
}

export function createKnownNodes(table: Table, fleet: Fleet): KnownNodes {
  const key = keys.nodes(fleet.fleet);
  const writtenAt = new Map<string, number>();
  let read: { names: string[]; at: number } | undefined;

  const seenNow = async (): Promise<string[]> => {
    const item = await table.get(key);
    const oldest = Date.now() - REMEMBER_MS;
    const seenAt = seenSchema.parse(item?.seen ?? {});
    const names = Object.keys(seenAt).filter((name) => (seenAt[name] ?? 0) >= oldest);
    read = { names, at: Date.now() };
    return names;
  };

  return {
    listed: fleet.nodes.map(({ name }) => name),
    expected: fleet.expectedNodes ?? fleet.nodes.length,
    seenNow,
    seen: async () => (read && Date.now() - read.at < READ_AGAIN_MS ? read.names : seenNow()),
    saw: async (names) => {
      const now = Date.now();
      const fresh = [...new Set(names)].filter((name) => now - (writtenAt.get(name) ?? 0) > WRITE_AGAIN_MS);
      if (fresh.length === 0) return;
      await write(table, key, fresh, now);
      for (const name of fresh) writtenAt.set(name, now);
      if (read) read = { names: [...new Set([...read.names, ...fresh])], at: read.at };
    },
  };
}

/** One map in one item. Its first write makes the map; two of those at once end in one map with both names. */
async function write(table: Table, key: string, fresh: readonly string[], now: number): Promise<void> {
  const names = Object.fromEntries(fresh.map((name, index) => [`#n${index}`, name]));
  const add = {
    key,
    update: `SET ${fresh.map((_, index) => `#seen.#n${index} = :now`).join(", ")}`,
    condition: "attribute_exists(#seen)",
    names,
    values: { ":now": now },
  };
  if ((await table.update(add)).outcome === "written") return;
  const made = await table.update({
    key,
    update: "SET #seen = :seen",
    condition: "attribute_not_exists(#seen)",
    values: { ":seen": Object.fromEntries(fresh.map((name) => [name, now])) },
  });
  if (made.outcome === "refused") await table.update(add);
}
