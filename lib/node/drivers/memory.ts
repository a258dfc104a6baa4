// The memory driver: guests that are records only. For a laptop, for tests, and for trying a fleet before it has
// images. It takes the time to boot that it is told, and writes a line for every guest that it starts.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DriverOptions, GuestDriver } from "./table.ts";

/** The one image that needs no file: an empty machine. */
const BLANK_IMAGE = "ami-0000000000000000a";

export function createMemoryDriver({ dataDir, bootMs }: DriverOptions): GuestDriver {
  const starts = join(dataDir, "starts");
  const booting = new Map<string, AbortController>();
  const interrupt = async (id: string) => booting.get(id)?.abort();

  return {
    hasImage: (imageId) => imageId === BLANK_IMAGE,
    async start({ id }) {
      appendFileSync(starts, `${id}\n`);
      if (bootMs === 0) return;
      const boot = new AbortController();
      booting.set(id, boot);
      try {
        await sleep(bootMs, undefined, { signal: boot.signal });
      } catch {
        // Interrupted by a stop or an end, which decides the state that follows.
      } finally {
        booting.delete(id);
      }
    },
    stop: ({ id }) => interrupt(id),
    reboot: async () => {},
    end: ({ id }) => interrupt(id),
  };
}
