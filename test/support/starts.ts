// What nodes start from a moment on, by the lines that their drivers write.
//
// A driver acts after its node has answered, so the files are read when no instance is under way any more.

import type { Customer } from "./customer.ts";
import { eventually } from "./eventually.ts";
import type { Stack } from "./stack.ts";

export interface Starts {
  /** Ids of the guests that a node has started since, in order. */
  on(node: string): Promise<string[]>;
  all(): Promise<string[]>;
  /** How many each node has started since, by its name. */
  counts(): Promise<Record<string, number>>;
}

export async function startsFrom(customer: Customer): Promise<Starts> {
  const { stack } = customer;
  await customer.settled();
  const names = stack.ready.nodes.map(({ name }) => name);
  const before = new Map(names.map((name) => [name, stack.starts(name).length]));
  const readAll = async () => {
    await customer.settled();
    return names.map((name) => [name, stack.starts(name).slice(before.get(name))] as const);
  };
  return {
    on: async (node) => (await readAll()).find(([name]) => name === node)?.[1] ?? [],
    all: async () => (await readAll()).flatMap(([, ids]) => ids),
    counts: async () => Object.fromEntries((await readAll()).map(([name, ids]) => [name, ids.length])),
  };
}

/** The nodes that start these guests, in the order of the ids. */
export function nodesOf(stack: Stack, ids: readonly string[]): Promise<string[]> {
  const nodeOf = (id: string) => stack.ready.nodes.find(({ name }) => stack.starts(name).includes(id))?.name;
  return eventually(`${ids.join(", ")} started`, () => {
    const nodes = ids.map(nodeOf).filter((node) => node !== undefined);
    return nodes.length === ids.length ? nodes : undefined;
  }) as Promise<string[]>;
}
