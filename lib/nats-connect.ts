// Connecting to NATS, for the gateway and for nodes, and saying in one sentence why it did not work.

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
  try {
    return await connect({
      servers: url,
      name,
      inboxPrefix: inboxPrefix(name),
      ...(creds ? { authenticator: credsAuthenticator(new TextEncoder().encode(creds)) } : {}),
      ...(user ? { user } : {}),
      ...(password ? { pass: password } : {}),
      ...options,
    });
  } catch (error) {
    throw new Error(`NATS at ${url}: ${causeOf(error)}`, { cause: error });
  }
}

/** The causes by nats.ws's codes. A refused certificate and a refused connection both come with an empty message. */
const CAUSES: Readonly<Record<string, string>> = {
  CONNECTION_REFUSED: "nobody listens there, or the connection was refused",
  TIMEOUT: "no answer in time",
  CONNECTION_TIMEOUT: "no answer in time",
  AUTHORIZATION_VIOLATION: "the user or password is wrong",
  AUTHENTICATION_EXPIRED: "the credentials have expired",
  BAD_AUTHENTICATION: "the credentials cannot be used",
  BAD_CREDS: "NIGHTPORTER_NATS_CREDS is not the text of a .creds file",
};

export function causeOf(error: unknown): string {
  const { code, message, chainedError } = error as { code?: string; message?: string; chainedError?: Error };
  if (/maximum connections exceeded/i.test(`${message} ${chainedError?.message ?? ""}`)) {
    return "the server is full (maximum connections exceeded)";
  }
  const known = code ? CAUSES[code] : undefined;
  if (known) return known;
  const said = chainedError?.message || message;
  if (!said || said === code) {
    return "the connection could not be made; nobody listens there, or its certificate is not trusted (set NODE_EXTRA_CA_CERTS)";
  }
  return said;
}
