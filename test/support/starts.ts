// What nodes start from a moment on, by the lines that their drivers write.

import type { Stack } from "./stack.ts";

export interface Starts {
  /** Ids of the guests that a node has started since, in order. */
  on(node: string): string[];
  all(): string[];
  /** How many each node has started since, by its name. */
  counts(): Record<string, number>;
}

export function startsFrom(stack: Stack): Starts {
  const names = stack.ready.nodes.map(({ name }) => name);
  const before = new Map(names.map((name) => [name, stack.starts(name).length]));
  const on = (node: string) => stack.starts(node).slice(before.get(node));
  return {
    on,
    all: () => names.flatMap(on),
    counts: () => Object.fromEntries(names.map((name) => [name, on(name).length])),
  };
}

/** The node that has started this guest. */
export function nodeOf(stack: Stack, id: string): string {
  const node = stack.ready.nodes.find(({ name }) => stack.starts(name).includes(id));
  if (!node) throw new Error(`no node has started ${id}`);
  return node.name;
}
