// A cluster without the Lambda side: a real nats-server with the product's permissions, dynalite, real daemons, and
// the gateway's own parts in the test's process. For tests that decide what each peer does and when.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Msg, type NatsConnection } from "nats.ws";
import { build, DIST } from "../../infra/build.ts";
import {
  ACCOUNT,
  CREDENTIALS,
  GATEWAY_USER,
  IMAGE_ID,
  nodeUser,
  REGION,
  TABLE,
} from "../../infra/local/account.ts";
import { ensureTable } from "../../infra/local/table.ts";
import { renderUsers } from "../../infra/nats-users.ts";
import { instanceId, mintReservationId } from "../../lib/attempt.ts";
import { type Bus, createBus } from "../../lib/bus.ts";
import type { Exchange } from "../../lib/exchange.ts";
import { createInstances, type Instances } from "../../lib/fleet/instances.ts";
import { createKnownNodes } from "../../lib/fleet/known-nodes.ts";
import { parseFleet } from "../../lib/fleet-file.ts";
import { createLauncher, type Launch, type LaunchRequest } from "../../lib/launch/launcher.ts";
import { createTable, type Table } from "../../lib/table.ts";
import { readWindows, type Windows } from "../../lib/windows.ts";
import type { Answer } from "../../lib/wire.ts";
import { eventually } from "./eventually.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const OBSERVER = { user: "observer", password: "local" };

/**
 * The long windows at a tenth or so. Those that are short anyway stay: two busy cores are slow enough to miss them.
 * Holds last longer than any test waits: one that is left behind must be seen, not lapse in time.
 */
export const TEST_WINDOWS: Partial<Windows> = {
  quietMs: 600,
  ackAgainMs: 150,
  launchMs: 2000,
  budgetMs: 6000,
  leaseMs: 7000,
  skewMs: 200,
  holdMs: 120_000,
  beatMs: 500,
  beatPerNodeMs: 20,
};

export interface ClusterOptions {
  /** Names with sizes: `{ a: "4x8" }`. */
  nodes: Record<string, string>;
  windows?: Partial<Windows>;
  bootMs?: number;
  expectedNodes?: number;
  /** An endpoint to use instead of a dynalite of its own. */
  dynamodbUrl?: string;
}

export interface Gateway {
  bus: Bus;
  table: Table;
  launch: Launch;
  instances: Instances;
}

export class TestDaemon {
  readonly name: string;
  readonly dir: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  log = "";

  constructor(name: string, dir: string, env: Record<string, string>) {
    this.name = name;
    this.dir = dir;
    this.#env = env;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  start(): void {
    mkdirSync(this.dir, { recursive: true });
    const child = spawn(process.execPath, [join(DIST, "node", "index.mjs")], {
      env: { PATH: process.env.PATH, ...this.#env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    this.#child = child;
  }

  freeze(): void {
    process.kill(this.pid, "SIGSTOP");
  }

  thaw(): void {
    process.kill(this.pid, "SIGCONT");
  }

  /** kill -9; resolves when it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** The guests that this node has ever started. */
  starts(): string[] {
    const file = join(this.dir, "starts");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }
}

/** Once per test file; others may be building the same at the same time. */
let built: Promise<unknown> | undefined;

export class Cluster implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "nightporter-test-"));
  readonly options: ClusterOptions;
  readonly windows: Windows;
  readonly daemons = new Map<string, TestDaemon>();
  natsUrl = "";
  dynamodbUrl = "";
  #nats: ChildProcess | undefined;
  #dynalite: ChildProcess | undefined;
  readonly #gateways: Gateway[] = [];
  #observer: NatsConnection | undefined;
  #natsPorts = { tcp: -1, ws: -1 };

  private constructor(options: ClusterOptions) {
    this.options = options;
    this.windows = readWindows(JSON.stringify({ ...TEST_WINDOWS, ...options.windows }));
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
    built ??= build();
    await built;
    try {
      await Promise.all([cluster.startNats(), cluster.#startDynalite()]);
      for (const [name, size] of Object.entries(options.nodes)) cluster.addDaemon(name, size);
      for (const daemon of cluster.daemons.values()) daemon.start();
      await cluster.untilJoined();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  daemon(name: string): TestDaemon {
    const daemon = this.daemons.get(name);
    if (!daemon) throw new Error(`no daemon ${name}`);
    return daemon;
  }

  addDaemon(name: string, size: string): TestDaemon {
    const dir = join(this.dir, "nodes", name);
    const { name: user, password } = nodeUser(name);
    const daemon = new TestDaemon(name, dir, {
      NIGHTPORTER_NODE_NAME: name,
      NIGHTPORTER_NODE_SIZE: size,
      NIGHTPORTER_NODE_DATA: dir,
      NIGHTPORTER_NODE_BOOT_MS: String(this.options.bootMs ?? 0),
      NIGHTPORTER_EXPECTED_NODES: String(
        this.options.expectedNodes ?? Object.keys(this.options.nodes).length,
      ),
      NIGHTPORTER_NATS_URL: this.natsUrl,
      NIGHTPORTER_NATS_USER: user,
      NIGHTPORTER_NATS_PASSWORD: password,
      NIGHTPORTER_WINDOWS: JSON.stringify(this.windows),
    });
    this.daemons.set(name, daemon);
    return daemon;
  }

  /** The gateway's parts, as one sandbox has them. */
  gateway(options: { dynamodbUrl?: string; natsUrl?: string; expectedNodes?: number } = {}): Gateway {
    const { name: user, password } = GATEWAY_USER;
    const { windows } = this;
    const fleet = parseFleet(
      JSON.stringify({
        fleet: "test",
        expectedNodes:
          options.expectedNodes ?? this.options.expectedNodes ?? Object.keys(this.options.nodes).length,
        nodes: Object.keys(this.options.nodes).map((name) => ({ name })),
      }),
      "fleet.yaml",
    );
    process.env.AWS_ACCESS_KEY_ID = CREDENTIALS.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = CREDENTIALS.secretAccessKey;
    const bus = createBus({ url: options.natsUrl ?? this.natsUrl, user, password }, windows, () => {});
    const table = createTable({
      table: TABLE,
      region: REGION,
      endpoint: options.dynamodbUrl ?? this.dynamodbUrl,
    });
    const nodes = createKnownNodes(table, fleet);
    const instances = createInstances({ bus, nodes, windows });
    const launch = createLauncher({ bus, table, nodes, windows, describe: instances.describe });
    const gateway = { bus, table, launch, instances };
    this.#gateways.push(gateway);
    return gateway;
  }

  /** The gateway's own way to the nodes, for tests that play a gateway step by step. */
  exchange(): Promise<Exchange> {
    this.#played ??= this.gateway();
    return this.#played.bus.exchange();
  }
  #played: Gateway | undefined;

  async status(name: string): Promise<Answer<"status"> | undefined> {
    const asked = await (await this.exchange()).ask(name, "status", {}, 1000);
    return asked.outcome === "answered" ? asked.answer : undefined;
  }

  /** Waits until these nodes take launches and know each other. */
  async untilJoined(names: readonly string[] = [...this.daemons.keys()]): Promise<void> {
    for (const name of names) {
      await eventually(
        `${name} has joined`,
        async () => {
          const status = await this.status(name);
          return Boolean(status?.joined && names.every((other) => status.roster.includes(other)));
        },
        60_000,
      );
    }
  }

  /** Takes `count` places of a node by name, as a gateway's plan does. @returns the instance ids */
  async occupy(name: string, count: number, type = "t3.micro"): Promise<string[]> {
    const exchange = await this.exchange();
    const reservation = mintReservationId();
    const attempt = { fence: Date.now(), n: 1 };
    const launch = { key: `launch#test#${reservation}`, reservation, account: ACCOUNT, attempt };
    const deadline = Date.now() + 5000;
    const hold = `test-${reservation}`;
    const held = await exchange.ask(
      name,
      "hold",
      { launch, hold, type, imageId: IMAGE_ID, count, deadline },
      1000,
    );
    if (held.outcome !== "answered" || held.answer.outcome !== "held" || held.answer.count < count) {
      throw new Error(`${name} has no room for ${count} x ${type}: ${JSON.stringify(held)}`);
    }
    const seats = Array.from({ length: count }, (_, index) => ({
      id: instanceId(reservation, attempt, index),
      index,
    }));
    const { input } = request(count, { type });
    const committed = await exchange.ask(name, "commit", { launch, hold, seats, input, deadline }, 1000);
    if (committed.outcome !== "answered" || committed.answer.outcome !== "started") {
      throw new Error(`${name} did not commit: ${JSON.stringify(committed)}`);
    }
    return seats.map(({ id }) => id);
  }

  /** Every message on the bus from now on. */
  async observe(): Promise<Msg[]> {
    this.#observer ??= await connect({ servers: this.natsUrl, user: OBSERVER.user, pass: OBSERVER.password });
    const seen: Msg[] = [];
    this.#observer.subscribe(">", { callback: (_error, message) => void seen.push(message) });
    await this.#observer.flush();
    return seen;
  }

  /** Resolves when the observer has seen all that was sent before. */
  async observed(): Promise<void> {
    await this.#observer?.flush();
  }

  async startNats(): Promise<void> {
    const folder = join(this.dir, "nats");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    symlinkSync(join(ROOT, "infra", "nats.conf"), join(folder, "nats.conf"));
    const names = [...Object.keys(this.options.nodes), "late-1", "late-2"];
    const users = renderUsers(GATEWAY_USER, names.map(nodeUser)).replace(
      "users: [",
      `users: [\n  { user: ${OBSERVER.user}, password: ${OBSERVER.password}, permissions: { subscribe: ">" } }`,
    );
    writeFileSync(join(folder, "nats-users.conf"), users);
    writeFileSync(join(folder, "nats-tls.conf"), "no_tls: true\n");
    this.#nats = spawn("nats-server", ["-c", join(folder, "nats.conf"), "--ports_file_dir", folder], {
      env: {
        PATH: process.env.PATH,
        NIGHTPORTER_NATS_HOST: "127.0.0.1",
        NIGHTPORTER_NATS_PORT: String(this.#natsPorts.tcp),
        NIGHTPORTER_NATS_WS_PORT: String(this.#natsPorts.ws),
      },
      stdio: "ignore",
    });
    const ports = await readPorts(folder);
    this.natsUrl = ports.websocket[0]!;
    this.#natsPorts = { tcp: portOf(ports.nats[0]!), ws: portOf(ports.websocket[0]!) };
  }

  async stopNats(): Promise<void> {
    const child = this.#nats;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async #startDynalite(): Promise<void> {
    const { dynamodbUrl } = this.options;
    if (dynamodbUrl) this.dynamodbUrl = dynamodbUrl;
    else {
      this.#dynalite = spawn(process.execPath, [join(ROOT, "infra", "local", "dynalite.mjs"), "0"], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const [message] = (await once(this.#dynalite, "message")) as [{ port: number }];
      this.dynamodbUrl = `http://127.0.0.1:${message.port}`;
    }
    await ensureTable({ ...CREDENTIALS, url: this.dynamodbUrl, region: REGION, table: TABLE });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#gateways.map(({ bus }) => bus.close()));
    await this.#observer?.close();
    await Promise.all([...this.daemons.values()].map((daemon) => daemon.kill()));
    await this.stopNats();
    this.#dynalite?.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

export const request = (
  count: number | [number, number],
  more: Partial<LaunchRequest> = {},
): LaunchRequest => {
  const [minCount, maxCount] = Array.isArray(count) ? count : [count, count];
  const type = more.type ?? "t3.micro";
  const imageId = more.imageId ?? IMAGE_ID;
  return {
    type,
    imageId,
    minCount,
    maxCount,
    input: { ImageId: imageId, InstanceType: type, MinCount: minCount, MaxCount: maxCount },
    ...more,
  };
};

export const PRINCIPAL = { account: ACCOUNT };

export const call = () => ({ answerBy: Date.now() + 25_000 });

async function readPorts(folder: string): Promise<{ nats: string[]; websocket: string[] }> {
  let found: { nats: string[]; websocket: string[] } | undefined;
  await eventually("nats-server listens", () => {
    const name = readdirSync(folder).find((file) => file.endsWith(".ports"));
    const text = name ? readFileSync(join(folder, name), "utf8") : "";
    if (text.endsWith("}")) found = JSON.parse(text);
    return found !== undefined;
  });
  return found!;
}

const portOf = (url: string): number => Number(new URL(url).port);
