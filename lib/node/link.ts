// The link: a daemon's connection to NATS. It is made again for as long as the daemon lives.
//
// A cause that keeps it from being made is logged once, not at every try.

import { setTimeout as sleep } from "node:timers/promises";
import { Events, type NatsConnection } from "nats.ws";
import type { NatsSettings } from "../config.ts";
import { Exchange } from "../exchange.ts";
import { causeOf, connectNats } from "../nats-connect.ts";
import type { Log } from "./log.ts";

const RETRY_MS = 250;
const PING_MS = 20_000;

export interface Link {
  exchange: Exchange;
  /** Settles when everything sent so far has reached the server. */
  flush: () => Promise<void>;
  close: () => Promise<void>;
}

export interface LinkOptions {
  node: string;
  nats: NatsSettings;
  dialMs: number;
  log: Log;
  /** Called when a lost connection is back: the fleet may have changed meanwhile. */
  back: () => void;
  /** Called when it is lost. */
  lost: () => void;
  signal: AbortSignal;
}

/** Resolves when the first connection stands; rejects only when `signal` is aborted. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const connection = await dial(options);
  void watch(connection, options);
  return {
    exchange: new Exchange(connection, options.node),
    flush: () => connection.flush(),
    close: () => connection.close(),
  };
}

async function dial({ node, nats, dialMs, log, signal }: LinkOptions): Promise<NatsConnection> {
  let told = "";
  for (;;) {
    try {
      return await connectNats(nats, node, {
        reconnect: true,
        maxReconnectAttempts: -1,
        // Else a second refusal in a row closes the connection for good, and the daemon lives on unheard.
        ignoreAuthErrorAbort: true,
        pingInterval: PING_MS,
        reconnectTimeWait: RETRY_MS,
        reconnectJitter: RETRY_MS / 4,
        timeout: dialMs,
      });
    } catch (error) {
      const { message } = error as Error;
      if (message !== told) log.error("cannot connect, will keep trying", message);
      told = message;
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

async function watch(connection: NatsConnection, { log, back, lost }: LinkOptions): Promise<void> {
  let told = "";
  for await (const status of connection.status()) {
    if (status.type === Events.Reconnect) {
      told = "";
      log.info("connected again");
      back();
      continue;
    }
    if (status.type !== Events.Disconnect && status.type !== Events.Error) continue;
    if (status.type === Events.Disconnect) lost();
    const code = String(status.data);
    const cause = status.type === Events.Disconnect ? "the connection was lost" : (causeOf({ code }) ?? code);
    if (cause !== told) log.error("NATS", cause);
    told = cause;
  }
}
