import { execFileSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type NatsConnection, StringCodec } from "nats.ws";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { GATEWAY_USER, nodeUser } from "../../infra/local/account.ts";
import { startNats } from "../../infra/local/nats.ts";
import { nodePermissions } from "../../infra/nats-users.ts";
import { beatSubject, launchSubject, roomSubject, VERBS, type Verb, verbSubject } from "../../lib/wire.ts";
import { openHouse } from "./house.ts";

const house = openHouse();
let url: string;
let gateway: NatsConnection;
let a: NatsConnection;
let b: NatsConnection;
const refused: string[] = [];

async function dial({ name, password }: { name: string; password: string }): Promise<NatsConnection> {
  const connection = await connect({
    servers: url,
    user: name,
    pass: password,
    inboxPrefix: `_INBOX.${name}`,
    reconnect: false,
  });
  void (async () => {
    for await (const { type, permissionContext } of connection.status() as AsyncIterable<{
      type: string;
      permissionContext?: { operation: string; subject: string };
    }>) {
      if (type === "error" && permissionContext) {
        refused.push(`${name} ${permissionContext.operation} ${permissionContext.subject}`);
      }
    }
  })();
  return connection;
}

beforeAll(async () => {
  const nodes = ["a", "b"].map(nodeUser);
  ({ url } = await startNats(
    { folder: `${house.folder}/nats`, gateway: GATEWAY_USER, nodes, anyPorts: true },
    house,
  ));
  [gateway, a, b] = (await Promise.all([GATEWAY_USER, ...nodes].map(dial))) as [
    NatsConnection,
    NatsConnection,
    NatsConnection,
  ];
});
afterAll(async () => {
  await Promise.all([gateway, a, b].map((connection) => connection?.close()));
  await house[Symbol.asyncDispose]();
});
beforeEach(() => {
  refused.length = 0;
});

/** The server's refusals arrive before its answer to a later round trip. */
async function refusalsOf(connection: NatsConnection, act: () => void): Promise<string[]> {
  act();
  await connection.flush();
  await new Promise((resolve) => setImmediate(resolve));
  return [...refused];
}

const published = (connection: NatsConnection, subject: string) =>
  refusalsOf(connection, () => connection.publish(subject));

const subscribed = (connection: NatsConnection, subject: string, queue = "") =>
  refusalsOf(connection, () => {
    connection.subscribe(subject, { ...(queue ? { queue } : {}), callback: () => {} });
  });

describe("a node may", () => {
  test.for([
    beatSubject("a"),
    roomSubject("t3.micro", "a"),
    ...(["hold", "release", "commit", "undo"] satisfies Verb[]).map((verb) => verbSubject("b", verb, "a")),
  ])("publish %s", async (subject) => {
    expect(await published(a, subject)).toEqual([]);
  });

  test.for([
    ["hive.node.a.*.*", ""],
    ["hive.beat.*", ""],
    ["_INBOX.a.x.*", ""],
    [roomSubject("t3.micro", "*"), "hive-workers"],
    [launchSubject(), "hive-workers"],
    [launchSubject("t3.micro"), "hive-workers"],
  ] as [string, string][])("subscribe %s %s", async ([subject, queue]) => {
    expect(await subscribed(a, subject, queue)).toEqual([]);
  });
});

describe("a node may not", () => {
  test.for([
    beatSubject("b"),
    roomSubject("t3.micro", "b"),
    verbSubject("b", "hold", "gateway"),
    verbSubject("a", "hold", "b"),
    verbSubject("b", "change", "a"),
    verbSubject("b", "instances", "a"),
    launchSubject(),
    launchSubject("t3.micro"),
    "_INBOX.b.x.1",
    "_INBOX.gateway.x.1",
  ])("publish %s", async (subject) => {
    expect(await published(a, subject)).toEqual([`a publish ${subject}`]);
  });

  test.for([
    ["_INBOX.b.>", ""],
    ["_INBOX.gateway.>", ""],
    ["_INBOX.>", ""],
    ["hive.node.b.>", ""],
    ["hive.>", ""],
    [">", ""],
    ["$SYS.>", ""],
    [launchSubject(), ""],
    [launchSubject("t3.micro"), ""],
    [launchSubject(">"), "spies"],
    [roomSubject("t3.micro", "*"), "spies"],
  ] as [string, string][])("subscribe %s %s", async ([subject, queue]) => {
    expect(await subscribed(a, subject, queue)).toEqual([
      expect.stringContaining(`a subscription ${subject}`),
    ]);
  });
});

describe("the gateway", () => {
  test.for(Object.keys(VERBS) as Verb[])("may ask any node to %s", async (verb) => {
    expect(await published(gateway, verbSubject("a", verb, "gateway"))).toEqual([]);
  });

  test.for([beatSubject("a"), verbSubject("a", "hold", "b"), "_INBOX.a.1"])(
    "may not publish %s",
    async (subject) => {
      expect(await published(gateway, subject)).toEqual([`gateway publish ${subject}`]);
    },
  );

  test("may not hear what nodes are asked", async () => {
    expect(await subscribed(gateway, "hive.node.>")).toEqual(["gateway subscription hive.node.>"]);
  });
});

test("a node answers one ask several times, into an inbox that is not its own", async () => {
  a.subscribe("hive.node.a.status.gateway", {
    callback: (_, message) => {
      for (const word of ["first", "second", "third"]) message.respond(word);
    },
  });
  await a.flush();
  const heard: string[] = [];
  const codec = StringCodec();
  gateway.subscribe("_INBOX.gateway.many", { callback: (_, { data }) => heard.push(codec.decode(data)) });
  gateway.publish("hive.node.a.status.gateway", "", { reply: "_INBOX.gateway.many" });

  await expect.poll(() => heard).toEqual(["first", "second", "third"]);
});

test("nobody is let in by a wrong password or without one", async () => {
  await expect(dial({ name: "a", password: nodeUser("b").password })).rejects.toThrow(/Authorization/i);
  await expect(connect({ servers: url, reconnect: false })).rejects.toThrow(/Authorization/i);
});

test("every subject that a node may publish ends in its own name", () => {
  for (const subject of nodePermissions("a").publish) expect(subject.split(".").at(-1)).toBe("a");
});

test("writing the users again keeps the passwords of those who stay", () => {
  const write = (nodes: string[]) => {
    const fleet = join(house.folder, "fleet.yaml");
    writeFileSync(fleet, stringify({ fleet: "lab", nodes: nodes.map((name) => ({ name })) }));
    const script = join(import.meta.dirname, "..", "..", "infra", "nats-users.ts");
    const args = [script, "--fleet", fleet, "--out", house.folder];
    return execFileSync(process.execPath, args, { encoding: "utf8", stdio: "pipe" }).trim().split("\n");
  };
  const [gateway, one, two] = write(["one", "two"]);
  const again = write(["two", "three"]);

  expect(again.slice(0, 2)).toEqual([gateway, two]);
  expect(again).not.toContain(one);
  expect(statSync(join(house.folder, "nats-users.conf")).mode & 0o777).toBe(0o600);
});
