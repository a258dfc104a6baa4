// Instance ids as a request gives them.

import { Fault } from "../fault.ts";

const INSTANCE_ID = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

/**
 * @returns each id once, in the order given
 * @throws Fault MalformedInstanceId
 */
export function readInstanceIds(ids: readonly string[]): string[] {
  for (const id of ids) {
    // A trailing space counts.
    if (!INSTANCE_ID.test(id)) throw new Fault("MalformedInstanceId", `Invalid id: "${id}"`);
  }
  return [...new Set(ids)];
}
