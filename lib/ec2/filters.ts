// The Filters of a Describe action: AND over the filters, OR over the values of one.

import type { Filter } from "@aws-sdk/client-ec2";
import { Fault } from "../fault.ts";
import { glob } from "./glob.ts";

/** What an item has under a filter's name. None: the name is known, but this item has nothing there. */
export type FilterRow<Item> = (item: Item) => readonly (string | undefined)[];

/** Rows by filter name. A name that ends in `:` takes a key after it, as `tag:<key>`. */
export interface FilterTable<Item> {
  names: Readonly<Record<string, FilterRow<Item>>>;
  keyed?: Readonly<Record<string, (key: string) => FilterRow<Item>>>;
}

/** EC2's documented limit. */
const MAX_VALUES = 200;

/**
 * @returns whether an item passes all filters
 * @throws Fault InvalidParameterValue naming a filter that there is not, FilterLimitExceeded
 */
export function filterBy<Item>(
  filters: readonly Filter[] | undefined,
  table: FilterTable<Item>,
): (item: Item) => boolean {
  const tests = (filters ?? []).map((filter) => test(filter, table));
  return (item) => tests.every((passes) => passes(item));
}

function test<Item>({ Name: name, Values: values = [] }: Filter, table: FilterTable<Item>) {
  const row = rowOf(name, table);
  if (!row) throw new Fault("InvalidParameterValue", `The filter '${name ?? "null"}' is invalid`);
  if (values.length === 0) throw new Fault("InvalidParameterValue", `The filter '${name}' has no value`);
  if (values.length > MAX_VALUES) {
    throw new Fault(
      "FilterLimitExceeded",
      `The maximum number of filter values specified on a single call is ${MAX_VALUES}`,
    );
  }
  const patterns = values.map(glob);
  return (item: Item): boolean =>
    row(item).some((value) => value !== undefined && patterns.some((matches) => matches(value)));
}

function rowOf<Item>(name: string | undefined, { names, keyed = {} }: FilterTable<Item>) {
  if (name === undefined) return undefined;
  if (Object.hasOwn(names, name)) return names[name];
  const prefix = name.slice(0, name.indexOf(":") + 1);
  return Object.hasOwn(keyed, prefix) ? keyed[prefix]!(name.slice(prefix.length)) : undefined;
}
