// The gateway's arm: its NATS connection, made anew when it has died.
//
// A sandbox is frozen between invocations, and its connection may be gone without a sign: the client still calls it
// open at the thaw, and the first request would be lost. So before the first ask of an invocation it is tried with a
// round trip; a pending round trip never settles when the connection dies, hence the race.

import type { NatsConnection } from "nats.ws";
import type { NatsSettings } from "./config.ts";
import { type Asked, Exchange } from "./exchange.ts";
import { Fault } from "./fault.ts";
import { connectNats, wasRefused } from "./nats-connect.ts";
import { afterSilence } from "./patience.ts";
import { current, type Kept, renewed } from "./secret.ts";
import type { Windows } from "./windows.ts";
import { type Answer, type Ask, GATEWAY_NAME, type Verb } from "./wire.ts";

/** Interval of the client's own pings: a connection that dies while the sandbox is awake is noticed by then. */
const PING_MS = 20_000;

export interface Bus {
  /** Starts connecting without waiting; what goes wrong is told to whoever asks for the exchange. */
  warm(): void;
  /**
   * The exchange over a connection that has just answered.
   * @throws Fault ServiceUnavailable naming the cause
   */
  exchange(): Promise<Exchange>;
  close(): Promise<void>;
}

export function createBus(
  nats: Kept<NatsSettings>,
  windows: Windows,
  logError: (event: string, message: string) => void,
): Bus {
  let dialled: Promise<{ connection: NatsConnection; exchange: Exchange }> | undefined;
  let probing: Promise<Exchange> | undefined;

  const connect = (settings: NatsSettings) =>
    connectNats(settings, GATEWAY_NAME, {
      reconnect: false,
      timeout: windows.dialMs,
      pingInterval: PING_MS,
      maxPingOut: 1,
      waitOnFirstConnect: false,
    });

  const connectAsKnown = async (): Promise<NatsConnection> => {
    const held = await current(nats);
    try {
      return await connect(held);
    } catch (error) {
      if (!wasRefused(error)) throw error;
      const newer = await renewed(nats);
      if (newer === held) throw error;
      return connect(newer);
    }
  };

  const dial = () => {
    dialled ??= connectAsKnown().then((connection) => ({
      connection,
      exchange: new Exchange(connection, GATEWAY_NAME),
    }));
    dialled.catch(() => {
      dialled = undefined;
    });
    return dialled;
  };

  const probe = async (): Promise<Exchange> => {
    try {
      // A dial of the init phase may have been frozen in the middle: its failure says nothing about now.
      const standing = await dialled?.catch(() => undefined);
      if (standing) {
        if (await answers(standing.connection, windows.probeMs)) return standing.exchange;
        dialled = undefined;
        standing.connection.close().catch(() => {});
      }
      return (await dial()).exchange;
    } catch (error) {
      const { message } = error as Error;
      logError("nats", message);
      throw new Fault("ServiceUnavailable", `The gateway cannot reach its nodes: ${message}`, {
        cause: error,
      });
    }
  };

  return {
    warm: () => void dial().catch(() => {}),
    exchange: () => {
      probing ??= probe().finally(() => {
        probing = undefined;
      });
      return probing;
    },
    close: async () => {
      await (await dialled?.catch(() => undefined))?.connection.close();
      dialled = undefined;
    },
  };
}

async function answers(connection: NatsConnection, withinMs: number): Promise<boolean> {
  let callOff = () => {};
  const late = new Promise<false>((resolve) => {
    callOff = afterSilence(withinMs, () => resolve(false));
  });
  try {
    return await Promise.race([
      connection.rtt().then(() => true),
      connection.closed().then(() => false),
      late,
    ]);
  } catch {
    return false;
  } finally {
    callOff();
  }
}

/** Asks many nodes the same, each by name, at once; a dead one is known in a millisecond. */
export async function gather<V extends Verb>(
  exchange: Exchange,
  names: Iterable<string>,
  verb: V,
  body: Ask<V>,
  withinMs: number,
): Promise<Map<string, Asked<Answer<V>>>> {
  const asked = [...new Set(names)].map(
    async (name) => [name, await exchange.ask(name, verb, body, withinMs)] as const,
  );
  return new Map(await Promise.all(asked));
}
