// A proxy between one client and nats-server that loses, repeats or delays what a test names. It knows just enough of
// websockets to see a frame as a whole; what is in a frame is NATS's own protocol as text.

import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** `toServer` is what the client publishes, `toClient` what it is sent. */
export type Way = "toServer" | "toClient";
export type Fate = "pass" | "drop" | "twice" | { delayMs: number };

export class NatsProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Decides each frame; a test replaces it. */
  rule: (way: Way, text: string) => Fate = () => "pass";

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.url = `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  static async start(target: string): Promise<NatsProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    let proxy: NatsProxy | undefined;
    const server = createServer((client) => {
      const upstream = dial(Number(port), hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
        });
      }
      pump(client, upstream, (text) => proxy!.rule("toServer", text));
      pump(upstream, client, (text) => proxy!.rule("toClient", text));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    proxy = new NatsProxy(server, sockets);
    return proxy;
  }

  /** Cuts all connections, as a restart of something in between does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Hands on the HTTP upgrade as it is, and after it frame by frame, in order, as the rule says. */
function pump(from: Socket, to: Socket, rule: (text: string) => Fate): void {
  let waiting = Buffer.alloc(0);
  let upgraded = false;
  let turn = Promise.resolve();
  const send = (frame: Buffer) => {
    if (!to.destroyed) to.write(frame);
  };
  from.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    if (!upgraded) {
      const end = waiting.indexOf("\r\n\r\n");
      if (end < 0) return;
      send(waiting.subarray(0, end + 4));
      waiting = waiting.subarray(end + 4);
      upgraded = true;
    }
    for (let frame = takeFrame(waiting); frame; frame = takeFrame(waiting)) {
      waiting = waiting.subarray(frame.bytes.length);
      const { bytes, text } = frame;
      const fate = rule(text);
      if (fate === "drop") continue;
      turn = turn.then(async () => {
        if (typeof fate === "object") await sleep(fate.delayMs);
        send(bytes);
        if (fate === "twice") send(bytes);
      });
    }
  });
}

/** RFC 6455, section 5.2. @returns undefined while the frame is not whole */
function takeFrame(buffer: Buffer): { bytes: Buffer; text: string } | undefined {
  if (buffer.length < 2) return undefined;
  const masked = (buffer[1]! & 0x80) !== 0;
  let length = buffer[1]! & 0x7f;
  let at = 2;
  if (length === 126) {
    if (buffer.length < 4) return undefined;
    length = buffer.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (buffer.length < 10) return undefined;
    length = Number(buffer.readBigUInt64BE(2));
    at = 10;
  }
  const mask = masked ? buffer.subarray(at, at + 4) : undefined;
  if (masked) at += 4;
  if (buffer.length < at + length) return undefined;
  const payload = Buffer.from(buffer.subarray(at, at + length));
  if (mask) for (let i = 0; i < payload.length; i++) payload[i]! ^= mask[i % 4]!;
  return { bytes: Buffer.from(buffer.subarray(0, at + length)), text: payload.toString("latin1") };
}
