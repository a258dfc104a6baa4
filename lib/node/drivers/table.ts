// THE TABLE of guest drivers, and what each must do.

import type { Instance } from "../../instance.ts";
import { createMemoryDriver } from "./memory.ts";

/** Runs guests. Every promise settles when the guest is in the state asked for; a rejection is a crash of the guest. */
export interface GuestDriver {
  hasImage(imageId: string): boolean;
  /** Boots a guest that does not run. */
  start(instance: Instance): Promise<void>;
  stop(instance: Instance): Promise<void>;
  reboot(instance: Instance): Promise<void>;
  /** Ends a guest for good and frees what it used. Also for one that never ran. */
  end(instance: Instance): Promise<void>;
}

export interface DriverOptions {
  dataDir: string;
  bootMs: number;
}

export const DRIVERS = {
  memory: createMemoryDriver,
} as const satisfies Record<string, (options: DriverOptions) => GuestDriver>;

export type DriverName = keyof typeof DRIVERS;
