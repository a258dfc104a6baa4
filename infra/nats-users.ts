// Writes the users of the fleet's nats-server: one for the gateway, whose permissions are nats.conf's default, and
// one per node, which may speak only as itself and hear only what is meant for it.
//
//   node infra/nats-users.ts --fleet fleet.yaml --out DIR
//
// writes DIR/nats-users.conf with a password for each user and prints them. Run again after a change of the fleet, it
// keeps the passwords of those who stay. They are in plain text; only the file's owner may read it.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseFleet } from "../lib/fleet-file.ts";
import {
  beatSubject,
  GATEWAY_NAME,
  inboxPrefix,
  launchSubject,
  QUEUE_GROUP,
  roomSubject,
} from "../lib/wire.ts";

export interface User {
  name: string;
  password: string;
}

/** Verbs that one node asks of another. Reading and changing instances is the gateway's alone. */
const ASKED_BY_NODES = ["hold", "release", "commit", "undo"];

/** An instance type is two tokens of a subject: `t3.micro`. */
const ANY_TYPE = "*.*";

/** What a node may publish, and what it may subscribe to; `subject group` allows only that queue group. */
export const nodePermissions = (name: string) => ({
  publish: [
    beatSubject(name),
    roomSubject(ANY_TYPE, name),
    ...ASKED_BY_NODES.map((verb) => `hive.node.*.${verb}.${name}`),
  ],
  subscribe: [
    `hive.node.${name}.>`,
    beatSubject("*"),
    `${roomSubject(ANY_TYPE, "*")} ${QUEUE_GROUP}`,
    `${launchSubject()} ${QUEUE_GROUP}`,
    `${launchSubject(">")} ${QUEUE_GROUP}`,
    `${inboxPrefix(name)}.>`,
  ],
});

/**
 * With the default of one reply per message the acknowledgement of a launch would use up its answer's place; ten
 * minutes are beyond any launch.
 */
const REPLIES = '{ max: -1, expires: "10m" }';

/** @returns the text of nats-users.conf */
export function renderUsers(gateway: User, nodes: readonly User[]): string {
  const quoted = (value: string) => JSON.stringify(value);
  const list = (subjects: readonly string[]) => `[${subjects.map(quoted).join(", ")}]`;
  const rows = nodes.map(({ name, password }) => {
    const { publish, subscribe } = nodePermissions(name);
    return `  {
    user: ${quoted(name)}, password: ${quoted(password)}
    permissions {
      publish: ${list(publish)}
      subscribe: ${list(subscribe)}
      allow_responses: ${REPLIES}
    }
  }`;
  });
  return `# Written by infra/nats-users.ts.
users: [
  { user: ${quoted(gateway.name)}, password: ${quoted(gateway.password)} }
${rows.join("\n")}
]
`;
}

const USER = /user: "([^"]+)", password: "([^"]+)"/g;

/** The users of a file that `renderUsers` wrote; none when it is not there yet. */
function readUsers(file: string): User[] {
  if (!existsSync(file)) return [];
  return [...readFileSync(file, "utf8").matchAll(USER)].map(([, name, password]) => ({
    name: name!,
    password: password!,
  }));
}

const mintPassword = (): string => randomBytes(24).toString("base64url");

if (import.meta.main) {
  const { values } = parseArgs({
    options: { fleet: { type: "string", default: "fleet.yaml" }, out: { type: "string", default: "." } },
  });
  const fleet = parseFleet(readFileSync(values.fleet, "utf8"), values.fleet);
  const file = join(values.out, "nats-users.conf");
  const known = new Map(readUsers(file).map(({ name, password }) => [name, password]));
  const user = (name: string): User => ({ name, password: known.get(name) ?? mintPassword() });
  const gateway = user(GATEWAY_NAME);
  const nodes = fleet.nodes.map(({ name }) => user(name));
  writeFileSync(file, renderUsers(gateway, nodes), { mode: 0o600 });
  for (const { name, password } of [gateway, ...nodes]) console.log(`${name}\t${password}`);
  console.error(`wrote ${file}; give each node its password as NIGHTPORTER_NATS_PASSWORD`);
}
