// The flags of `npm start -- …`: read once, refused with one sentence that names the flag, the value and what is
// allowed.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseSize } from "../../lib/capacity.ts";
import { GATEWAY_NAME, NODE_NAME } from "../../lib/wire.ts";

export interface NodeChoice {
  name: string;
  /** vCPUs x GiB, such as `8x16`. */
  size: string;
}

export interface Options {
  nodes: NodeChoice[];
  /** A fleet file's absolute path; then `nodes` is what it lists. */
  fleet?: string;
  gateways: number;
  sandboxes: number;
  /** 0: free ports for everything. */
  port: number;
  driver: "memory";
  dynamodb: "dynalite" | "local" | URL;
  /** Absolute. Undefined: a temporary folder. */
  data?: string;
  json: boolean;
  /** How long a guest of the memory driver boots, when the daemon's own default is not wanted. */
  bootMs?: number;
}

/** A flag that cannot be obeyed. The message is one sentence for the person who typed it. */
export class FlagError extends Error {}

export const DEFAULT_SIZE = "8x16";
/** More daemons than this are more than one machine's nats-server and memory are a fair test of. */
const MAX_NODES = 500;
const MAX_GATEWAYS = 20;
const MAX_SANDBOXES = 1000;
const MAX_BOOT_MS = 600_000;

const FLAGS = {
  nodes: {
    value: "LIST|N",
    says: "daemons to run: 'a=4x8,b=32x64' (vCPUs x GiB), or a number of 8x16 ones (3)",
  },
  fleet: { value: "FILE", says: "the fleet file; its nodes are run, 8x16 each where it says no size" },
  gateways: { value: "N", says: "gateways, each with sandboxes of its own (1)" },
  sandboxes: { value: "N", says: "most sandboxes per function and gateway; beyond it 429, as Lambda (32)" },
  port: { value: "P", says: "gateway k at P+2k, its streaming URL at P+2k+1; 0 picks free ones (4000)" },
  driver: { value: "memory", says: "how nodes run guests (memory)" },
  "boot-ms": { value: "N", says: "how long a guest of the memory driver boots" },
  dynamodb: { value: "WHERE", says: "dynalite, local (Amazon's, needs Java 17) or a URL (dynalite)" },
  data: { value: "DIR", says: "where state is kept; without it a temporary folder that goes at exit" },
  json: { value: "", says: "one line of JSON on stdout when ready, everything else on stderr" },
  "no-install": { value: "", says: "install nothing with the system's package manager" },
  help: { value: "", says: "this" },
} as const;

type Flag = keyof typeof FLAGS;

const isFlag = (name: string): name is Flag => Object.hasOwn(FLAGS, name);

export function helpText(): string {
  const rows = Object.entries(FLAGS).map(([name, { value, says }]) => {
    const left = `  --${name}${value ? ` ${value}` : ""}`;
    return `${left.padEnd(22)}${says}`;
  });
  return ["npm start -- FLAGS", "", ...rows].join("\n");
}

/**
 * @returns "help" when that is what was asked for
 * @throws FlagError
 */
export function readFlags(argv: readonly string[]): Options | "help" {
  const given = readTokens(argv);
  if (given.has("help")) return "help";
  const text = (flag: Flag, fallback: string) => given.get(flag) ?? fallback;
  const fleet = given.get("fleet");
  if (fleet && given.has("nodes")) {
    throw new FlagError("--nodes and --fleet both say which nodes to run; give one of them");
  }
  const driver = text("driver", "memory");
  if (driver === "qemu") throw new FlagError("--driver qemu is not built yet; --driver memory is");
  if (driver !== "memory") throw new FlagError(`--driver is ${driver}; it can be memory`);
  const data = given.get("data");
  const bootMs = given.get("boot-ms");
  return {
    nodes: readNodes(text("nodes", "3")),
    ...(fleet ? { fleet: resolve(fleet) } : {}),
    gateways: wholeNumber("gateways", text("gateways", "1"), 1, MAX_GATEWAYS),
    sandboxes: wholeNumber("sandboxes", text("sandboxes", "32"), 1, MAX_SANDBOXES),
    port: wholeNumber("port", text("port", "4000"), 0, 65_534),
    driver,
    dynamodb: readDynamodb(text("dynamodb", "dynalite")),
    ...(data ? { data: resolve(data) } : {}),
    json: given.has("json"),
    ...(bootMs ? { bootMs: wholeNumber("boot-ms", bootMs, 0, MAX_BOOT_MS) } : {}),
  };
}

function readTokens(argv: readonly string[]): Map<Flag, string> {
  const options = Object.fromEntries(
    Object.entries(FLAGS).map(([name, { value }]) => [name, { type: value ? "string" : "boolean" } as const]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<Flag, string>();
  for (const token of tokens) {
    if (token.kind === "positional") {
      throw new FlagError(`"${token.value}" is no flag; flags follow a --, as in: npm start -- --nodes 5`);
    }
    if (token.kind !== "option") continue;
    if (!isFlag(token.name)) {
      throw new FlagError(
        `${token.rawName} is no flag; there are ${Object.keys(FLAGS).map(dashed).join(" ")}`,
      );
    }
    const wants = FLAGS[token.name].value;
    if (wants && !token.value)
      throw new FlagError(`${token.rawName} needs a value: ${token.rawName} ${wants}`);
    if (!wants && token.value !== undefined) throw new FlagError(`${token.rawName} takes no value`);
    given.set(token.name, token.value ?? "");
  }
  return given;
}

const dashed = (name: string): string => `--${name}`;

function wholeNumber(flag: Flag, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new FlagError(`--${flag} is ${text}; it can be a whole number from ${min} to ${max}`);
  }
  return value;
}

function readNodes(text: string): NodeChoice[] {
  if (/^\d+$/.test(text)) {
    const count = wholeNumber("nodes", text, 1, MAX_NODES);
    return Array.from({ length: count }, (_, i) => ({ name: `node-${i + 1}`, size: DEFAULT_SIZE }));
  }
  const nodes = text.split(",").map((entry) => {
    const [name = "", size = ""] = entry.trim().split("=");
    if (!NODE_NAME.test(name) || name === GATEWAY_NAME || !parseSize(size)) {
      throw new FlagError(
        `--nodes has "${entry.trim()}"; each entry is NAME=vCPUsxGiB such as a=4x8, with letters, digits, - and _ in the name`,
      );
    }
    return { name, size };
  });
  const twice = nodes.find(({ name }, i) => nodes.findIndex((other) => other.name === name) !== i);
  if (twice) throw new FlagError(`--nodes has ${twice.name} twice; names must be unique`);
  return nodes;
}

function readDynamodb(text: string): Options["dynamodb"] {
  if (text === "dynalite" || text === "local") return text;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return new URL(text);
  throw new FlagError(
    `--dynamodb is ${text}; it can be dynalite, local or a URL such as http://127.0.0.1:8000`,
  );
}
