// The node daemons: the product's own bundle, one process per node.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DIST } from "../build.ts";
import { nodeUser } from "./account.ts";
import { windows } from "./environment.ts";
import type { NodeChoice } from "./flags.ts";
import { type House, Part } from "./part.ts";
import type { RollCall } from "./roll-call.ts";

/** A daemon takes a third of a second of one core to start: more at a time only delays them all. */
const STARTING_AT_A_TIME = 6;

export interface Daemon {
  name: string;
  part: Part;
}

export interface DaemonsOptions {
  nodes: readonly NodeChoice[];
  folder: string;
  natsUrl: string;
  expectedNodes: number;
  driver: string;
  bootMs: number | undefined;
  rollCall: RollCall;
}

export async function startDaemons(options: DaemonsOptions, house: House): Promise<Daemon[]> {
  const waiting = [...options.nodes];
  const started: Daemon[] = [];
  const starter = async () => {
    for (let node = waiting.shift(); node; node = waiting.shift()) {
      const part = await startDaemon(node, options, house);
      started.push({ name: node.name, part });
      await options.rollCall.untilAnswers(node.name, part);
    }
  };
  await Promise.all(Array.from({ length: STARTING_AT_A_TIME }, starter));
  const order = options.nodes.map(({ name }) => name);
  const joined = started.map(({ name, part }) =>
    options.rollCall.untilJoined(
      name,
      part,
      order.filter((other) => other !== name),
    ),
  );
  await Promise.all(joined);
  return started.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

async function startDaemon({ name, size }: NodeChoice, options: DaemonsOptions, house: House): Promise<Part> {
  const data = join(options.folder, name);
  mkdirSync(data, { recursive: true });
  const { name: user, password } = nodeUser(name);
  return await Part.start(
    {
      name,
      role: "product",
      command: process.execPath,
      args: ["--enable-source-maps", join(DIST, "node", "index.mjs")],
      cwd: data,
      env: {
        NIGHTPORTER_NODE_NAME: name,
        NIGHTPORTER_NODE_SIZE: size,
        NIGHTPORTER_NODE_DATA: data,
        NIGHTPORTER_NODE_DRIVER: options.driver,
        ...(options.bootMs === undefined ? {} : { NIGHTPORTER_NODE_BOOT_MS: String(options.bootMs) }),
        NIGHTPORTER_EXPECTED_NODES: String(options.expectedNodes),
        NIGHTPORTER_NATS_URL: options.natsUrl,
        NIGHTPORTER_NATS_USER: user,
        NIGHTPORTER_NATS_PASSWORD: password,
        ...windows(process.env),
      },
    },
    house,
  );
}
