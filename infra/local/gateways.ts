// The gateways: one front process each, with its sandboxes.

import { join } from "node:path";
import { environmentOf, type Places } from "./environment.ts";
import type { FrontOrders, FrontReport } from "./front.ts";
import { readFunctions } from "./functions.ts";
import { type House, Part } from "./part.ts";
import { HOST, isFree } from "./ports.ts";

const root = join(import.meta.dirname, "..", "..");
const SERVERLESS = join(root, "serverless.yml");

export interface Gateway {
  part: Part;
  url: string;
  streamUrl: string;
}

export interface GatewaysOptions {
  count: number;
  /** 0: free ones. */
  port: number;
  sandboxes: number;
  places: Places;
}

/** @throws Error naming the first port that another process has */
export async function refuseTakenPorts(port: number, count: number): Promise<void> {
  if (port === 0) return;
  for (let taken = port; taken < port + 2 * count; taken++) {
    if (!(await isFree(taken))) {
      throw new Error(
        `port ${taken} is taken by another process; give a free one with: npm start -- --port P`,
      );
    }
  }
}

export async function startGateways(
  { count, port, sandboxes, places }: GatewaysOptions,
  house: House,
): Promise<Gateway[]> {
  const functions = readFunctions(SERVERLESS);
  const environments = Object.fromEntries(functions.map((fn) => [fn.name, environmentOf(fn, places)]));
  const starts = Array.from({ length: count }, (_, k) =>
    startGateway(
      k,
      {
        port: port && port + 2 * k,
        streamPort: port && port + 2 * k + 1,
        functions: SERVERLESS,
        taskRoot: root,
        environments,
        sandboxes,
        provision: true,
        schedules: k === 0,
      },
      house,
    ),
  );
  return await Promise.all(starts);
}

async function startGateway(k: number, orders: FrontOrders, house: House): Promise<Gateway> {
  const name = `gateway-${k + 1}`;
  const listening = Promise.withResolvers<{ port: number; streamPort: number }>();
  const sandboxes = new Set<number>();
  const hear = (message: FrontReport): void => {
    switch (message.report) {
      case "listening":
        listening.resolve(message);
        break;
      case "refused":
        listening.reject(new Error(`${name}: ${message.why}`));
        break;
      case "line":
        house.journal.write(`${name}/${message.part}`, message.stream, message.line);
        break;
      case "sandbox":
        if (message.alive) sandboxes.add(message.pid);
        else sandboxes.delete(message.pid);
        house.guard[message.alive ? "watch" : "forget"](message.pid);
        break;
      default:
        message satisfies never;
    }
  };
  const part = await Part.start(
    {
      name,
      role: "product",
      command: process.execPath,
      args: [join(import.meta.dirname, "front.ts")],
      onMessage: (message) => hear(message as FrontReport),
    },
    house,
  );
  part.gone.then((how) => {
    // Sandboxes end with their front by themselves; one that is stopped cannot.
    for (const pid of sandboxes) endSandbox(pid, house);
    listening.reject(new Error(`${name} does not start: ${how}`));
  });
  part.send(orders);
  const { port, streamPort } = await listening.promise;
  return { part, url: `http://${HOST}:${port}`, streamUrl: `http://${HOST}:${streamPort}` };
}

function endSandbox(pid: number, house: House): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
  house.guard.forget(pid);
}
