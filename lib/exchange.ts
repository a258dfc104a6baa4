// Asking over one NATS connection. The only file that speaks nats.ws to send and receive; its errors end here.
//
// 1. An ask ends in one of four ways: answered; absent (nobody is subscribed, the server says so at once);
//    silent (nothing within the window: an unknown outcome, never a failure); closed (the connection went).
// 2. One wildcard subscription takes all replies of a connection; each ask has a token of its own below it.
// 3. A handler that throws answers nothing, and is logged: the asker sees silence, which is the truth.

import { headers as createHeaders, createInbox, type Msg, type MsgHdrs, type NatsConnection } from "nats.ws";
import type * as z from "zod/mini";
import { afterSilence } from "./patience.ts";
import { type Answer, type Ask, HEADERS, inboxPrefix, VERBS, type Verb, verbSubject } from "./wire.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const STATUS_HEADER_CODE = 503;

export type Asked<A> =
  | { outcome: "answered"; answer: A }
  | { outcome: "absent" }
  | { outcome: "silent" }
  | { outcome: "closed" };

/** What came back to an exchange that takes several replies. */
export type Reply =
  | { kind: "message"; body: unknown; header: (name: string) => string | undefined }
  | { kind: "absent" }
  | { kind: "closed" };

/** A subscription that is answered. */
export interface Served {
  /** Takes nothing new and delivers what is on its way before it resolves. */
  drain(): Promise<void>;
  /** Drops what is on its way. */
  unsubscribe(): void;
}

export interface Incoming {
  subject: string;
  /** The parsed JSON body; undefined when it is not JSON. */
  body: unknown;
  header: (name: string) => string | undefined;
  wantsReply: boolean;
  /** Answers the sender's inbox. Throws when the answer is larger than NATS carries. */
  reply: (body: unknown, headers?: Record<string, string>) => void;
}

export const encodeJson = (body: unknown): Uint8Array => encoder.encode(JSON.stringify(body));

function decodeJson(data: Uint8Array): unknown {
  if (data.length === 0) return undefined;
  try {
    return JSON.parse(decoder.decode(data));
  } catch {
    return undefined;
  }
}

function toHeaders(fields: Record<string, string> | undefined): MsgHdrs | undefined {
  if (!fields) return undefined;
  const made = createHeaders();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  return made;
}

export class Exchange {
  readonly #connection: NatsConnection;
  readonly #name: string;
  readonly #prefix: string;
  readonly #open = new Map<string, (reply: Reply) => void>();
  #next = 0;

  /** @param name who asks: a node's name, or the gateway's */
  constructor(connection: NatsConnection, name: string) {
    this.#connection = connection;
    this.#name = name;
    this.#prefix = createInbox(inboxPrefix(name));
    connection.subscribe(`${this.#prefix}.*`, {
      callback: (error, message) => !error && this.#deliver(message),
    });
    connection.closed().then(() => {
      for (const take of [...this.#open.values()]) take({ kind: "closed" });
    });
  }

  #deliver(message: Msg): void {
    const take = this.#open.get(message.subject.slice(this.#prefix.length + 1));
    if (!take) return;
    if (message.headers?.code === STATUS_HEADER_CODE && message.data.length === 0) take({ kind: "absent" });
    else take({ kind: "message", body: decodeJson(message.data), header: headerOf(message) });
  }

  /**
   * Sends `body` to `subject` and hands every reply to `take` until the returned function is called.
   */
  open(
    subject: string,
    body: unknown,
    headers: Record<string, string> | undefined,
    take: (reply: Reply) => void,
  ): () => void {
    const token = (this.#next++).toString(36);
    const close = () => void this.#open.delete(token);
    if (this.#connection.isClosed()) {
      take({ kind: "closed" });
      return close;
    }
    this.#open.set(token, take);
    const made = toHeaders(headers);
    this.#connection.publish(subject, encodeJson(body), {
      reply: `${this.#prefix}.${token}`,
      ...(made ? { headers: made } : {}),
    });
    return close;
  }

  /**
   * Sends `body` to `subject` and waits for one reply of the given shape.
   * @param withinMs after this without a reply the outcome is `silent`; a reply of another shape counts as none
   */
  request<S extends z.ZodMiniType>(
    subject: string,
    body: unknown,
    answer: S,
    withinMs: number,
    headers?: Record<string, string>,
  ): Promise<Asked<z.infer<S>>> {
    return new Promise((resolve) => {
      let close = () => {};
      const end = (asked: Asked<z.infer<S>>) => {
        callOff();
        close();
        resolve(asked);
      };
      const callOff = afterSilence(withinMs, () => end({ outcome: "silent" }));
      close = this.open(subject, body, headers, (reply) => {
        if (reply.kind !== "message") return end({ outcome: reply.kind });
        const parsed = answer.safeParse(reply.body);
        if (parsed.success) end({ outcome: "answered", answer: parsed.data });
      });
    });
  }

  /** Asks one node by name. The verb's row in `VERBS` says what goes there and what comes back. */
  ask<V extends Verb>(
    node: string,
    verb: V,
    body: Ask<V>,
    withinMs: number,
    headers?: Record<string, string>,
  ): Promise<Asked<Answer<V>>> {
    const row = VERBS[verb];
    return this.request(
      verbSubject(node, verb, this.#name),
      body,
      row.answer as unknown as z.ZodMiniType<Answer<V>>,
      withinMs,
      headers,
    );
  }

  /** Sends without expecting anything back. */
  tell(subject: string, body: unknown): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject, encodeJson(body));
  }

  /**
   * Subscribes. The handler's work goes on after the callback has returned, so that a long one starves nobody.
   * @param failed called with what a handler threw
   */
  serve(
    subject: string,
    queue: string | undefined,
    handle: (incoming: Incoming) => unknown,
    failed: (error: unknown) => void,
  ): Served {
    return this.#connection.subscribe(subject, {
      ...(queue ? { queue } : {}),
      callback: (error, message) => {
        if (error) return failed(error);
        try {
          const running = handle(incomingOf(message));
          if (running instanceof Promise) running.catch(failed);
        } catch (thrown) {
          failed(thrown);
        }
      },
    });
  }
}

function headerOf(message: Msg): (name: string) => string | undefined {
  return (name) => message.headers?.get(name) || undefined;
}

function incomingOf(message: Msg): Incoming {
  return {
    subject: message.subject,
    body: decodeJson(message.data),
    header: headerOf(message),
    wantsReply: Boolean(message.reply),
    reply: (body, fields) => {
      const made = toHeaders(fields);
      message.respond(encodeJson(body), made ? { headers: made } : {});
    },
  };
}

/** The list in a `Hive-Tried-Nodes` header. */
export const parseTried = (text: string | undefined): string[] =>
  text
    ? text
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean)
    : [];

export const triedHeader = (names: Iterable<string>): Record<string, string> => ({
  [HEADERS.tried]: [...names].join(","),
});
