// Why a connection to NATS was not made, in one line, for the gateway and for a daemon.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build } from "../../infra/build.ts";
import { freePort } from "../../infra/local/ports.ts";
import { createBus } from "../../lib/bus.ts";
import { readWindows } from "../../lib/windows.ts";
import { TestDaemon } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";

const dir = mkdtempSync(join(tmpdir(), "nightporter-connect-"));
const ports = { plain: 0, tls: 0, nobody: 0 };
const servers: ChildProcess[] = [];

beforeAll(async () => {
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  const cert = join(dir, "cert.pem");
  const key = join(dir, "key.pem");
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-subj",
      "/CN=127.0.0.1",
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
    ],
    { stdio: "ignore" },
  );
  const users =
    'authorization { users: [{ user: "gateway", password: "local" }, { user: "a", password: "local" }] }';
  await Promise.all([
    startServer(
      "plain",
      `max_connections: 1\n${users}\nwebsocket { host: "127.0.0.1", port: ${ports.plain}, no_tls: true }`,
    ),
    startServer(
      "tls",
      `${users}\nwebsocket { host: "127.0.0.1", port: ${ports.tls}, tls { cert_file: "${cert}", key_file: "${key}" } }`,
    ),
    build(),
  ]);
});

afterAll(async () => {
  for (const server of servers) server.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

const CASES: [string, () => { url: string; password: string }, RegExp][] = [
  [
    "wrong credentials",
    () => ({ url: `ws://127.0.0.1:${ports.plain}`, password: "wrong" }),
    /password is wrong/,
  ],
  [
    "a refused certificate",
    () => ({ url: `wss://127.0.0.1:${ports.tls}`, password: "local" }),
    /certificate/,
  ],
  [
    "a server that nobody runs",
    () => ({ url: `ws://127.0.0.1:${ports.nobody}`, password: "local" }),
    /nobody listens there/,
  ],
  [
    "a full server",
    () => ({ url: `ws://127.0.0.1:${ports.plain}`, password: "local" }),
    /the server is full/,
  ],
];

/** Takes the only connection of the plain server while `during` runs. */
async function full<T>(when: boolean, during: () => Promise<T>): Promise<T> {
  if (!when) return during();
  const holder = createBus(
    nats({ url: `ws://127.0.0.1:${ports.plain}`, password: "local" }),
    readWindows(undefined),
    () => {},
  );
  await holder.exchange();
  try {
    return await during();
  } finally {
    await holder.close();
  }
}

const nats = ({ url, password }: { url: string; password: string }) => ({ url, password, user: "gateway" });

test.each(CASES)(
  "with %s a gateway answers ServiceUnavailable and logs one line that names the cause",
  async (name, settings, cause) => {
    const lines: string[] = [];
    const bus = createBus(nats(settings()), readWindows(undefined), (_event, message) => lines.push(message));
    await full(name === "a full server", async () => {
      await expect(bus.exchange()).rejects.toMatchObject({
        code: "ServiceUnavailable",
        message: expect.stringMatching(cause),
      });
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(cause);
    expect(lines[0]).toContain(settings().url);
  },
);

test.each(CASES)(
  "with %s a daemon logs one line that names the cause, and keeps trying",
  async (name, settings, cause) => {
    const { url, password } = settings();
    const daemon = new TestDaemon("a", join(dir, name), {
      NIGHTPORTER_NODE_NAME: "a",
      NIGHTPORTER_NODE_DATA: join(dir, name),
      NIGHTPORTER_NODE_SIZE: "4x8",
      NIGHTPORTER_NATS_URL: url,
      NIGHTPORTER_NATS_USER: "a",
      NIGHTPORTER_NATS_PASSWORD: password,
    });
    await full(name === "a full server", async () => {
      daemon.start();
      await eventually("the daemon says why", () => cause.test(daemon.log));
      // It tries about once a second; a second line would be there by the second try.
      await eventually("it has tried again", triedAgain());
    });
    const said = daemon.log
      .trim()
      .split("\n")
      .filter((line) => line.includes("cannot connect"));
    await daemon.kill();
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(url);
  },
);

function triedAgain(): () => boolean {
  const since = performance.now();
  return () => performance.now() - since > 2200;
}

async function startServer(name: string, config: string): Promise<void> {
  const file = join(dir, `${name}.conf`);
  writeFileSync(file, `host: "127.0.0.1"\nport: -1\n${config}\n`);
  const server = spawn("nats-server", ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  servers.push(server);
  let said = "";
  server.stderr.on("data", (chunk) => {
    said += chunk;
  });
  await eventually(`${name} is ready`, () => {
    if (server.exitCode !== null) throw new Error(said);
    return said.includes("Server is ready");
  });
}
