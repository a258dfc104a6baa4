// Waits for a condition, never for a time.

import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 20;

/**
 * @param look is asked again until it returns something that counts as true
 * @throws Error naming what was waited for, with the last error of `look`
 */
export async function eventually<T>(what: string, look: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  let last: unknown;
  const end = Date.now() + withinMs;
  do {
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      last = error;
    }
    await delay(LOOK_MS);
  } while (Date.now() < end);
  throw new Error(`waited ${withinMs} ms in vain for: ${what}`, { cause: last });
}
