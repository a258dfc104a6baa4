// The local stack: starts every part as soon as what it needs is there, and ends them all.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../build.ts";
import { CREDENTIALS, GATEWAY_USER, nodeUser, REGION, TABLE } from "./account.ts";
import { startDaemons } from "./daemons.ts";
import { startDynamodb } from "./dynamodb.ts";
import type { Options } from "./flags.ts";
import { readFleet } from "./fleet.ts";
import { refuseTakenPorts, startGateways } from "./gateways.ts";
import { Guard } from "./guard.ts";
import { Journal } from "./journal.ts";
import { startNats } from "./nats.ts";
import type { House, Part } from "./part.ts";
import { describeReady, type Ready } from "./ready.ts";
import { RollCall } from "./roll-call.ts";
import { ensureTable } from "./table.ts";

/** Daemons say goodbye to each other and fronts end their sandboxes; both well under the three seconds of a stop. */
const GRACE_MS = 1200;
/** Neither nats-server nor a DynamoDB emulator has anything to lose here. */
const PEER_GRACE_MS = 500;

export class Stack {
  readonly #options: Options;
  readonly #house: House;
  readonly #data: string;
  readonly #logFile: string;
  #stopping: Promise<void> | undefined;

  /** @throws Error when the data folder is another stack's */
  constructor(options: Options) {
    this.#options = options;
    if (options.data) {
      mkdirSync(options.data, { recursive: true });
      claimFolder(options.data);
    }
    this.#data = options.data ?? mkdtempSync(join(tmpdir(), "nightporter-"));
    this.#logFile = join(this.#data, "local.log");
    this.#house = { guard: new Guard(), journal: new Journal(this.#logFile), parts: [], closed: false };
    if (!options.data) this.#house.guard.folder(this.#data);
  }

  async start(): Promise<Ready> {
    const house = this.#house;
    const { gateways: count, sandboxes, port, driver, bootMs } = this.#options;
    await refuseTakenPorts(port, count);
    const fleet = readFleet(this.#options, this.#data);
    const [nats, dynamodb] = await Promise.all([
      startNats(
        {
          folder: join(this.#data, "nats"),
          gateway: GATEWAY_USER,
          nodes: fleet.nodes.map(({ name }) => nodeUser(name)),
          anyPorts: port === 0,
        },
        house,
      ),
      this.#startTable(),
      build(),
    ]);
    const rollCall = new RollCall(nats.url);
    this.#progress(
      `Starting ${fleet.nodes.length} daemons and ${count === 1 ? "a gateway" : `${count} gateways`} …`,
    );
    const [daemons, gateways] = await Promise.all([
      startDaemons(
        {
          nodes: fleet.nodes,
          folder: join(this.#data, "nodes"),
          natsUrl: nats.url,
          expectedNodes: fleet.expectedNodes,
          driver,
          bootMs,
          rollCall,
        },
        house,
      ),
      startGateways(
        {
          count,
          port,
          sandboxes,
          places: { fleetFile: fleet.file, natsUrl: nats.url, dynamodbUrl: dynamodb.url },
        },
        house,
      ),
    ]);
    await rollCall.close();
    return describeReady({ gateways, daemons, nats, dynamodb, data: this.#data, logFile: this.#logFile });
  }

  /** Ends every part. Asked again, it is the same ending. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  async #startTable() {
    const { dynamodb: where, data, port } = this.#options;
    const dynamodb = await startDynamodb(
      { where, anyPort: port === 0, ...(data ? { folder: join(data, "dynamodb") } : {}) },
      this.#house,
    );
    const { url, part } = dynamodb;
    await ensureTable({ ...CREDENTIALS, url, region: REGION, table: TABLE, ...(part ? { part } : {}) });
    return dynamodb;
  }

  #progress(text: string): void {
    this.#house.journal.say(text);
  }

  async #end(): Promise<void> {
    const house = this.#house;
    house.closed = true;
    for (const part of house.parts) part.letGo();
    const stopAll = (parts: readonly Part[], graceMs: number) =>
      Promise.all(parts.map((part) => part.stop(graceMs)));
    // What speaks ends before what it speaks through.
    await stopAll(
      house.parts.filter(({ role }) => role === "product"),
      GRACE_MS,
    );
    await stopAll(house.parts, PEER_GRACE_MS);
    await house.journal.close();
    if (this.#options.data) releaseFolder(this.#options.data);
    await house.guard.close();
  }
}

const claimFile = (folder: string): string => join(folder, "stack.pid");

function claimFolder(folder: string): void {
  const file = claimFile(folder);
  let holder = 0;
  try {
    holder = Number(readFileSync(file, "utf8"));
  } catch {
    // Nobody's.
  }
  if (holder && isRunning(holder))
    throw new Error(`--data ${folder} is in use by the stack with pid ${holder}`);
  writeFileSync(file, String(process.pid));
}

const releaseFolder = (folder: string): void => rmSync(claimFile(folder), { force: true });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
