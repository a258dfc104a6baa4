// A caller of today's clusters: launches by a plain request on `ec2.RunInstances`, which any node of the queue group
// may get.

import { connect, createInbox, headers, type NatsConnection } from "nats.ws";
import { HEADERS, inboxPrefix, launchSubject } from "../../lib/wire.ts";
import type { Stack } from "./stack.ts";

export interface PlainAnswer {
  /** The node that was handed the launch; empty when it was not asked to say. */
  coordinator: string;
  /** A Reservation, or `Code` and `Message`. */
  body: { Instances?: { InstanceId: string }[]; Code?: string; Message?: string | null };
  ms: number;
}

const PATIENCE_MS = 10_000;

export class PlainCaller implements AsyncDisposable {
  readonly #connection: NatsConnection;
  readonly #stack: Stack;

  private constructor(connection: NatsConnection, stack: Stack) {
    this.#connection = connection;
    this.#stack = stack;
  }

  static async connect(stack: Stack): Promise<PlainCaller> {
    const { url: servers, user, password: pass } = stack.ready.nats;
    return new PlainCaller(await connect({ servers, user, pass }), stack);
  }

  /**
   * One t3.micro for the customer's account.
   * @param bare without any header: nobody says which node coordinates, and the account is another
   */
  async launch({ bare = false } = {}): Promise<PlainAnswer> {
    const { imageId: ImageId, account } = this.#stack.ready;
    const input = { ImageId, InstanceType: "t3.micro", MinCount: 1, MaxCount: 1 };
    const fields = headers();
    fields.set(HEADERS.account, account);
    fields.set(HEADERS.acceptAck, "1");
    const start = performance.now();
    const replies = this.#connection.subscribe(createInbox(inboxPrefix(this.#stack.ready.nats.user)));
    const timer = setTimeout(() => replies.unsubscribe(), PATIENCE_MS);
    let coordinator = "";
    try {
      this.#connection.publish(launchSubject(), JSON.stringify(input), {
        reply: replies.getSubject(),
        ...(bare ? {} : { headers: fields }),
      });
      for await (const reply of replies) {
        const acknowledged = reply.headers?.get(HEADERS.ack);
        if (acknowledged) coordinator = acknowledged;
        else return { coordinator, body: reply.json(), ms: performance.now() - start };
      }
    } finally {
      clearTimeout(timer);
      replies.unsubscribe();
    }
    throw new Error(`no answer from ${coordinator || "any node"} in ${PATIENCE_MS} ms`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}
