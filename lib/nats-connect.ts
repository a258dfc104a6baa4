// Connecting to NATS, for the gateway and for nodes, and saying in one sentence why it did not work.
//
// A client that reconnects calls every failure of its first connection a time-out, so a connection that does not is
// made first. Node's WebSocket keeps the reason of a failure to itself, so a plain connection is asked which of name,
// port or certificate it was.

import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from "nats.ws";
import type { NatsSettings } from "./config.ts";
import { inboxPrefix } from "./wire.ts";

/** @throws Error whose message names the server and the cause */
export async function connectNats(
  settings: NatsSettings,
  name: string,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  const { url, user, password, creds } = settings;
  const all: ConnectionOptions = {
    servers: url,
    name,
    inboxPrefix: inboxPrefix(name),
    ...(creds ? { authenticator: credsAuthenticator(new TextEncoder().encode(creds)) } : {}),
    ...(user ? { user } : {}),
    ...(password ? { pass: password } : {}),
    ...options,
  };
  try {
    if (options.reconnect) await (await connect({ ...all, reconnect: false })).close();
    return await connect(all);
  } catch (error) {
    throw new Error(`NATS at ${url}: ${await diagnose(all, url, error as NatsFailure)}`, { cause: error });
  }
}

/** What nats.ws's codes mean here; UNKNOWN_ERROR and TIMEOUT mean anything. */
const CAUSES: Readonly<Record<string, string>> = {
  CONNECTION_REFUSED: "nobody listens there",
  AUTHORIZATION_VIOLATION: "the user or password is wrong",
  AUTHENTICATION_EXPIRED: "the credentials have expired",
  BAD_AUTHENTICATION: "the credentials cannot be used",
  BAD_CREDS: "NIGHTPORTER_NATS_CREDS is not the text of a .creds file",
};

const REFUSALS = new Set([
  "AUTHORIZATION_VIOLATION",
  "AUTHENTICATION_EXPIRED",
  "BAD_AUTHENTICATION",
  "BAD_CREDS",
]);

/** @returns whether `connectNats` failed for who we say we are: others may be known by now */
export const wasRefused = (error: unknown): boolean =>
  REFUSALS.has(((error as Error).cause as NatsFailure | undefined)?.code ?? "");

interface NatsFailure {
  code?: string;
  message?: string;
}

/** @returns undefined when the error itself does not say */
export function causeOf({ code, message }: NatsFailure): string | undefined {
  if (/maximum connections exceeded/i.test(message ?? ""))
    return "the server is full (maximum connections exceeded)";
  if (code && CAUSES[code]) return CAUSES[code];
  return message && message !== code ? message : undefined;
}

/** A server that closes at once may do so before its reason is read: about one refusal in twelve by a full one. */
const ASK_AGAIN = 3;

async function diagnose(options: ConnectionOptions, url: string, failure: NatsFailure): Promise<string> {
  const said = causeOf(failure) ?? (await lookAt(new URL(url)));
  if (said) return said;
  for (let tries = 0; failure.code !== "TIMEOUT" && tries < ASK_AGAIN; tries++) {
    const again = await failureOf(options);
    const cause = again && causeOf(again);
    if (cause) return cause;
  }
  return "no answer in time";
}

async function failureOf(options: ConnectionOptions): Promise<NatsFailure | undefined> {
  try {
    await (await connect({ ...options, reconnect: false })).close();
    return undefined;
  } catch (error) {
    return error as NatsFailure;
  }
}

const LOOK_MS = 2000;

/** Tries the server's port, with TLS where the URL says so. @returns what is wrong with it, if anything */
async function lookAt({ protocol, hostname, port }: URL): Promise<string | undefined> {
  const secure = protocol === "wss:";
  const place = { host: hostname, port: Number(port) || (secure ? 443 : 80), timeout: LOOK_MS };
  const { connect: dialTls } = await import("node:tls");
  const { connect: dialPlain } = await import("node:net");
  return new Promise((resolve) => {
    const socket = secure ? dialTls(place) : dialPlain(place);
    const end = (cause: string | undefined) => {
      socket.destroy();
      resolve(cause);
    };
    socket.once(secure ? "secureConnect" : "connect", () => end(undefined));
    socket.once("timeout", () => end(undefined));
    socket.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED") end("nobody listens there");
      else if (code === "ENOTFOUND" || code === "EAI_AGAIN") end(`the name ${hostname} is not known`);
      else if (secure && !code?.startsWith("E")) {
        end(
          `its certificate is refused: ${message} (NODE_EXTRA_CA_CERTS names a file of further authorities)`,
        );
      } else end(message);
    });
  });
}
