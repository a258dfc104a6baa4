// The floor of a launch: one NATS request with as many bytes there and back, over the same server, with the same
// permissions, to a process of its own.

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { connect, type Msg } from "nats.ws";
import { GATEWAY_USER, nodeUser } from "../infra/local/account.ts";
import { GATEWAY_NAME, HEADERS, inboxPrefix, launchSubject } from "../lib/wire.ts";
import type { Cluster } from "../test/support/cluster.ts";
import { eventually } from "../test/support/eventually.ts";

/** A user that every test cluster's server knows and no daemon has. */
const SPARE_NODE = "late-1";
const OBSERVER = { user: "observer", pass: "local" };
const WITHIN_MS = 2000;

export interface WireSize {
  requestBytes: number;
  replyBytes: number;
}

/** What one node asks of another, headers and all, and its answer; to tell a slow machine from a slow product. */
export const ASK_SIZE: WireSize = { requestBytes: 420, replyBytes: 20 };

/** What a launch weighs, seen by an observer while `launch` runs: headers and body there, the last answer back. */
export async function weighLaunch(cluster: Cluster, launch: () => Promise<unknown>): Promise<WireSize> {
  const observer = await connect({ servers: cluster.natsUrl, ...OBSERVER });
  try {
    const seen: Msg[] = [];
    observer.subscribe(">", { callback: (_error, message) => void seen.push(message) });
    await observer.flush();
    await launch();
    const size = await eventually("the launch and its answer are seen", () => {
      const request = seen.find(({ subject, headers }) => subject.startsWith(launchSubject()) && headers);
      const reply = seen.find(
        ({ subject, headers }) => subject === request?.reply && !headers?.get(HEADERS.ack),
      );
      return request && reply && { requestBytes: bytesOf(request), replyBytes: bytesOf(reply) };
    });
    return size!;
  } finally {
    await observer.close();
  }
}

function bytesOf({ headers, data }: Msg): number {
  if (!headers) return data.length;
  const lines = [...headers].map(([name, values]) => `${name}: ${values.join(",")}\r\n`);
  return Buffer.byteLength(`NATS/1.0\r\n${lines.join("")}\r\n`) + data.length;
}

export interface BareRequest extends AsyncDisposable {
  send(): Promise<unknown>;
}

export async function openBareRequest(
  cluster: Cluster,
  { requestBytes, replyBytes }: WireSize,
): Promise<BareRequest> {
  const subject = `hive.node.${SPARE_NODE}.bare.${GATEWAY_NAME}`;
  const responder = fork(join(import.meta.dirname, "bare-responder.ts"), {
    env: {
      ...process.env,
      BARE_URL: cluster.natsUrl,
      BARE_USER: SPARE_NODE,
      BARE_PASSWORD: nodeUser(SPARE_NODE).password,
      BARE_SUBJECT: subject,
      BARE_REPLY_BYTES: String(replyBytes),
    },
  });
  const gone = once(responder, "exit");
  await Promise.race([
    once(responder, "message"),
    gone.then(() => Promise.reject(new Error("no responder"))),
  ]);
  const { name, password } = GATEWAY_USER;
  const connection = await connect({
    servers: cluster.natsUrl,
    user: name,
    pass: password,
    inboxPrefix: inboxPrefix(name),
  });
  const payload = new Uint8Array(requestBytes).fill("x".charCodeAt(0));
  return {
    send: () => connection.request(subject, payload, { timeout: WITHIN_MS }),
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      responder.disconnect();
      await gone;
    },
  };
}
