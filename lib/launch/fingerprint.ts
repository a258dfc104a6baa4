// What makes two RunInstances requests the same launch.

import { createHash } from "node:crypto";

/** Parameters that do not make another launch of a request. */
const NOT_FINGERPRINTED = new Set(["ClientToken", "DryRun"]);

/** Two requests with one fingerprint ask for the same launch. Member order does not matter. */
export function fingerprintOf(input: Record<string, unknown>): string {
  const relevant = Object.fromEntries(Object.entries(input).filter(([name]) => !NOT_FINGERPRINTED.has(name)));
  return createHash("sha256")
    .update(JSON.stringify(sorted(relevant)))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
