// A load of one raw HTTP request, sent again as soon as it is answered, over so many connections. It costs the machine
// as little as can be, since whoever is loaded shares the machine with it.

import { connect, type Socket } from "node:net";

export interface LoadOptions {
  url: string;
  /** The request as it goes over the wire, signature and all. */
  request: Buffer;
  connections: number;
  forMs: number;
}

export interface Load {
  /** Answers with status 200, per second. */
  perSecond: number;
  /** How many came with which other status. */
  others: Record<string, number>;
}

export async function load({ url, request, connections, forMs }: LoadOptions): Promise<Load> {
  const { hostname, port } = new URL(url);
  const counts = new Map<number, number>();
  const start = performance.now();
  const running = () => performance.now() - start < forMs;
  const lane = async () => {
    let socket: Socket | undefined;
    while (running()) {
      socket = socket?.writable ? socket : await open(hostname, Number(port));
      const { status, close } = await exchange(socket, request);
      if (running()) counts.set(status, (counts.get(status) ?? 0) + 1);
      if (close) socket.destroy();
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const { 200: good = 0, ...others } = Object.fromEntries(counts);
  return { perSecond: good / (forMs / 1000), others };
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket)).once("error", reject);
  });
}

/** One request and its whole answer, which must say its length or end with the connection. */
function exchange(socket: Socket, request: Buffer): Promise<{ status: number; close: boolean }> {
  return new Promise((resolve, reject) => {
    let seen = "";
    const end = () => {
      const answer = readAnswer(seen, true);
      stop();
      if (answer) resolve({ ...answer, close: true });
      else reject(new Error("the connection ended without an answer"));
    };
    const take = (chunk: Buffer) => {
      seen += chunk.toString("latin1");
      const answer = readAnswer(seen, false);
      if (!answer) return;
      stop();
      resolve(answer);
    };
    const stop = () => {
      socket.off("data", take).off("close", end).off("error", fail);
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    socket.on("data", take).on("close", end).on("error", fail);
    socket.write(request);
  });
}

function readAnswer(seen: string, ended: boolean): { status: number; close: boolean } | undefined {
  const headEnd = seen.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = seen.slice(0, headEnd).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  const whole = length === undefined ? ended : seen.length - headEnd - 4 >= Number(length);
  if (!whole) return undefined;
  return { status: Number(head.split(" ")[1]), close: /\r\nconnection: *close/.test(head) };
}
