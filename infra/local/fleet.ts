// The fleet file that the gateways read: the one given, or one made for `--nodes`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Fleet, parseFleet } from "../../lib/fleet-file.ts";
import { DEFAULT_SIZE, FlagError, type NodeChoice, type Options } from "./flags.ts";

export interface LocalFleet {
  /** Absolute path. */
  file: string;
  nodes: NodeChoice[];
  expectedNodes: number;
}

/**
 * @param folder where a made file goes
 * @throws FlagError when the given file cannot be read or is no fleet file
 */
export function readFleet({ fleet: file, nodes }: Options, folder: string): LocalFleet {
  if (!file) {
    const made = join(folder, "fleet.yaml");
    writeFileSync(made, stringify({ fleet: "local", expectedNodes: nodes.length, nodes } satisfies Fleet));
    return { file: made, nodes, expectedNodes: nodes.length };
  }
  const fleet = parseGiven(file);
  return {
    file,
    nodes: fleet.nodes.map(({ name, size = DEFAULT_SIZE }) => ({ name, size })),
    expectedNodes: fleet.expectedNodes ?? fleet.nodes.length,
  };
}

function parseGiven(file: string): Fleet {
  try {
    return parseFleet(readFileSync(file, "utf8"), file);
  } catch (error) {
    throw new FlagError(`--fleet: ${(error as Error).message}`);
  }
}
