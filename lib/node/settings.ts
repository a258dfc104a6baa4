// Environment -> settings of the daemon, once, at start.

import { availableParallelism, totalmem } from "node:os";
import { type Capacity, parseSize } from "../capacity.ts";
import { type NatsSettings, readNats } from "../config.ts";
import { readWindows, type Windows } from "../windows.ts";
import { GATEWAY_NAME, NODE_NAME } from "../wire.ts";
import { DRIVERS, type DriverName } from "./drivers/table.ts";

/** Left to the host itself when a node is not told its size. */
const RESERVED_VCPU = 1;
const RESERVED_MIB = 1024;

export interface NodeSettings {
  name: string;
  total: Capacity;
  dataDir: string;
  driver: DriverName;
  /** How long the memory driver takes to boot a guest. */
  bootMs: number;
  /** How many nodes the fleet should have, this one included; a daemon waits for them before it takes launches. */
  expectedNodes: number | undefined;
  nats: NatsSettings;
  windows: Windows;
}

type Env = Readonly<Record<string, string | undefined>>;

/** @throws Error naming the variable, what was expected and what was found */
export function readNodeSettings(env: Env): NodeSettings {
  const name = env.NIGHTPORTER_NODE_NAME ?? "";
  if (!NODE_NAME.test(name) || name === GATEWAY_NAME) {
    throw wrong("NIGHTPORTER_NODE_NAME", `letters, digits, - and _, and not "${GATEWAY_NAME}"`, name);
  }
  const dataDir = env.NIGHTPORTER_NODE_DATA;
  if (!dataDir) throw wrong("NIGHTPORTER_NODE_DATA", "a folder for this node's instances", dataDir);
  const driver = env.NIGHTPORTER_NODE_DRIVER || "memory";
  if (!Object.hasOwn(DRIVERS, driver)) {
    throw wrong("NIGHTPORTER_NODE_DRIVER", `one of ${Object.keys(DRIVERS).join(", ")}`, driver);
  }
  return {
    name,
    total: readTotal(env.NIGHTPORTER_NODE_SIZE),
    dataDir,
    driver: driver as DriverName,
    bootMs: wholeNumber(env, "NIGHTPORTER_NODE_BOOT_MS") ?? 0,
    expectedNodes: wholeNumber(env, "NIGHTPORTER_EXPECTED_NODES"),
    nats: readNats(env),
    windows: readWindows(env.NIGHTPORTER_WINDOWS),
  };
}

function readTotal(size: string | undefined): Capacity {
  if (!size) {
    return {
      vcpu: Math.max(1, availableParallelism() - RESERVED_VCPU),
      memMiB: Math.max(512, Math.floor(totalmem() / 2 ** 20) - RESERVED_MIB),
      gpus: {},
    };
  }
  const total = parseSize(size);
  if (!total) throw wrong("NIGHTPORTER_NODE_SIZE", 'vCPUs x GiB, such as "8x16"', size);
  return total;
}

function wholeNumber(env: Env, name: string): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^\d+$/.test(text)) throw wrong(name, "a whole number", text);
  return Number(text);
}

const wrong = (name: string, expected: string, found: string | undefined): Error =>
  new Error(`${name} must be ${expected}; it is ${found === undefined ? "not set" : JSON.stringify(found)}`);
