// nats-server with infra/nats.conf as it is, in a folder with the two files it includes.

import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { renderUsers, type User } from "../nats-users.ts";
import { type House, Part } from "./part.ts";
import { HOST, isFree } from "./ports.ts";

const WS_PORT = 9222;
const TCP_PORT = 4222;
/** nats-server's word for any free port. */
const ANY_PORT = -1;

const START_MS = 10_000;
const LOOK_MS = 10;

export interface Nats {
  part: Part;
  /** Websocket, which is all that Lambda speaks. */
  url: string;
  tcpUrl: string;
}

export interface NatsOptions {
  folder: string;
  gateway: User;
  nodes: readonly User[];
  /** Any free ports, instead of the usual ones where those are free. */
  anyPorts: boolean;
}

export async function startNats(
  { folder, gateway, nodes, anyPorts }: NatsOptions,
  house: House,
): Promise<Nats> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(import.meta.dirname, "..", "nats.conf"), join(folder, "nats.conf"));
  writeFileSync(join(folder, "nats-users.conf"), renderUsers(gateway, nodes), { mode: 0o600 });
  writeFileSync(join(folder, "nats-tls.conf"), "no_tls: true\n");
  const port = async (usual: number) => (!anyPorts && (await isFree(usual)) ? usual : ANY_PORT);
  const part = await Part.start(
    {
      name: "nats-server",
      role: "peer",
      command: "nats-server",
      args: ["-c", join(folder, "nats.conf"), "--ports_file_dir", folder],
      env: {
        PATH: withSbin(process.env.PATH ?? ""),
        NIGHTPORTER_NATS_HOST: HOST,
        NIGHTPORTER_NATS_PORT: String(await port(TCP_PORT)),
        NIGHTPORTER_NATS_WS_PORT: String(await port(WS_PORT)),
      },
    },
    house,
  );
  return { part, ...(await readPorts(folder, part)) };
}

/** Debian keeps servers in `sbin`, which is not on everybody's PATH. */
const withSbin = (path: string): string =>
  path
    .split(delimiter)
    .flatMap((folder) => [folder, folder.replace(/\/bin\/?$/, "/sbin")])
    .join(delimiter);

/** The server writes the ports it listens on to a file, once it does. */
async function readPorts(folder: string, part: Part): Promise<{ url: string; tcpUrl: string }> {
  for (const end = Date.now() + START_MS; part.alive && Date.now() < end; await delay(LOOK_MS)) {
    const name = readdirSync(folder).find((file) => file.endsWith(".ports"));
    const text = name ? readFileSync(join(folder, name), "utf8") : "";
    if (!text.endsWith("}")) continue;
    const { nats, websocket } = JSON.parse(text) as { nats: string[]; websocket: string[] };
    return { url: websocket[0]!, tcpUrl: nats[0]! };
  }
  throw new Error(`nats-server is not listening after ${START_MS / 1000} s`);
}
