// Environment -> settings of a function, once, at start. A missing or malformed variable fails the cold start with
// its name and what was expected.

import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { type Fleet, parseFleet } from "./fleet-file.ts";
import { type Kept, keep, REFERENCE, type SecretSettings } from "./secret.ts";
import { readWindows, type Windows } from "./windows.ts";

const accessKeySchema = z.strictObject({
  accessKeyId: z.string().check(z.minLength(1)),
  secretAccessKey: z.string().check(z.minLength(1)),
  account: z.string().check(z.regex(/^\d{12}$/, "must be 12 digits")),
});
export type AccessKey = z.infer<typeof accessKeySchema>;

const accessKeysSchema = z.array(accessKeySchema).check(z.minLength(1));

export interface NatsSettings {
  url: string;
  user?: string;
  password?: string;
  /** The text of a .creds file. */
  creds?: string;
}

/** What every function needs. */
export interface GatewayConfig {
  table: string;
  region: string;
  stage: string;
  fleet: Fleet;
  nats: Kept<NatsSettings>;
  /** Only for local peers; AWS's own endpoint otherwise. */
  dynamodbEndpoint?: string;
  windows: Windows;
}

type Env = Readonly<Record<string, string | undefined>>;

function required(env: Env, name: string, expected: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set; expected ${expected}`);
  return value;
}

/**
 * @param env the process's environment
 * @throws Error naming the variable and what was expected
 */
export function readGatewayConfig(env: Env): GatewayConfig {
  const fleetFile = required(env, "NIGHTPORTER_FLEET_FILE", "the path of a fleet.yaml");
  let text: string;
  try {
    text = readFileSync(fleetFile, "utf8");
  } catch (error) {
    throw new Error(
      `NIGHTPORTER_FLEET_FILE names ${fleetFile}, which cannot be read: ${(error as Error).message}`,
    );
  }
  const endpoint = env.NIGHTPORTER_DYNAMODB_ENDPOINT;
  const region = required(env, "NIGHTPORTER_REGION", "the region that clients sign for, such as us-east-1");
  const windows = readWindows(env.NIGHTPORTER_WINDOWS);
  return {
    table: required(env, "NIGHTPORTER_TABLE", "the name of the DynamoDB table"),
    region,
    stage: env.NIGHTPORTER_STAGE || "dev",
    fleet: parseFleet(text, fleetFile),
    nats: keepNats(env, { region, windows }),
    ...(endpoint ? { dynamodbEndpoint: endpoint } : {}),
    windows,
  };
}

/** The gateway's, whose password or credentials may stand in a store. */
function keepNats(env: Env, settings: SecretSettings): Kept<NatsSettings> {
  const { password, creds, ...nats } = readNats(env);
  if (creds) return keep("NIGHTPORTER_NATS_CREDS", creds, (text) => ({ ...nats, creds: text }), settings);
  if (!password) return nats;
  return keep("NIGHTPORTER_NATS_PASSWORD", password, (text) => ({ ...nats, password: text }), settings);
}

export function readNats(env: Env): NatsSettings {
  const url = required(env, "NIGHTPORTER_NATS_URL", "a websocket URL such as wss://nats.example.net");
  if (!/^wss?:\/\//.test(url)) throw new Error(`NIGHTPORTER_NATS_URL is ${url}; expected ws:// or wss://`);
  const creds = env.NIGHTPORTER_NATS_CREDS;
  if (creds) return { url, creds };
  const user = env.NIGHTPORTER_NATS_USER;
  const password = env.NIGHTPORTER_NATS_PASSWORD;
  return { url, ...(user ? { user } : {}), ...(password ? { password } : {}) };
}

const ACCESS_KEYS = "NIGHTPORTER_ACCESS_KEYS";
const KEY_LIST = 'a JSON list such as [{"accessKeyId":"…","secretAccessKey":"…","account":"000000000001"}]';

/** @throws Error when NIGHTPORTER_ACCESS_KEYS is missing, malformed or empty */
export function readAccessKeys(env: Env, settings: SecretSettings): Kept<AccessKey[]> {
  const text = required(env, ACCESS_KEYS, `${KEY_LIST}, or where to read one: ${REFERENCE}`);
  return keep(ACCESS_KEYS, text, parseAccessKeys, settings);
}

function parseAccessKeys(text: string): AccessKey[] {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error(`${ACCESS_KEYS} is not JSON; expected ${KEY_LIST}`);
  }
  const parsed = accessKeysSchema.safeParse(given);
  if (!parsed.success)
    throw new Error(`${ACCESS_KEYS}: ${z.prettifyError(parsed.error)}; expected ${KEY_LIST}`);
  return parsed.data;
}
