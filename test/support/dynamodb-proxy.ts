// A proxy before DynamoDB that counts requests, and loses answers of what was done or refuses to do anything.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export class DynamodbProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #target: string;
  /** Requests so far. */
  count = 0;
  #losing = 0;
  #refusing = false;

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.#target = target;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<DynamodbProxy> {
    let proxy: DynamodbProxy | undefined;
    const server = createServer((request, response) => void proxy!.#pass(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    proxy = new DynamodbProxy(server, target);
    return proxy;
  }

  /** The next answers are cut off after the request was carried out. */
  loseAnswers(count: number): void {
    this.#losing = count;
  }

  /** While true, connections are cut before anything is carried out. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.count += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.#refusing) return void request.socket.destroy();
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
    const answer = await fetch(this.#target, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (this.#losing > 0) {
      this.#losing -= 1;
      return void request.socket.destroy();
    }
    const { "content-encoding": _encoding, ...kept } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, { ...kept, "content-length": String(body.length) }).end(body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
