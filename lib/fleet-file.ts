// fleet.yaml: the fleet as its owner describes it. Read once, refused as a whole when anything in it is wrong.

import { parse } from "yaml";
import * as z from "zod/mini";
import { parseSize } from "./capacity.ts";

const NODE_NAME = /^[A-Za-z0-9_-]+$/;
/** What a gateway calls itself on the bus. */
const RESERVED_NAME = "gateway";

const nodeSchema = z.strictObject({
  name: z.string().check(
    z.regex(NODE_NAME, "must be letters, digits, - and _ only, since it becomes part of a NATS subject"),
    z.refine((name) => name !== RESERVED_NAME, `must not be "${RESERVED_NAME}", the gateway's own name`),
  ),
  size: z.optional(
    z
      .string()
      .check(z.refine((text) => parseSize(text) !== undefined, 'must be vCPUs x GiB, such as "8x16"')),
  ),
});

const fleetSchema = z.strictObject({
  fleet: z.string().check(z.minLength(1)),
  expectedNodes: z.optional(z.int().check(z.gt(0))),
  nodes: z.array(nodeSchema).check(z.minLength(1)),
});

export type Fleet = z.infer<typeof fleetSchema>;

/**
 * @param text YAML 1.2
 * @param file the file's name, for messages
 * @throws Error naming the file, the node and what is allowed
 */
export function parseFleet(text: string, file: string): Fleet {
  let given: unknown;
  try {
    given = parse(text);
  } catch (error) {
    throw new Error(`${file}: not YAML: ${(error as Error).message}`);
  }
  const parsed = fleetSchema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${file}: ${place(issue.path, given)}${issue.message}`);
    throw new Error(lines.join("\n"));
  }
  const seen = new Set<string>();
  for (const { name } of parsed.data.nodes) {
    if (seen.has(name)) throw new Error(`${file}: node ${name} is listed twice; names must be unique`);
    seen.add(name);
  }
  return parsed.data;
}

/** Says where in the file an issue is, a node by its name. */
function place(path: readonly PropertyKey[], given: unknown): string {
  if (path[0] !== "nodes" || typeof path[1] !== "number")
    return path.length ? `${path.map(String).join(".")}: ` : "";
  const name = (given as { nodes?: { name?: unknown }[] }).nodes?.[path[1]]?.name;
  const node = typeof name === "string" ? `node ${name}` : `node number ${path[1] + 1}`;
  return `${node}: ${path.slice(2).map(String).join(".")}: `.replace(": : ", ": ");
}
