// Ports: which are free, and what to ask a peer to listen on.

import { once } from "node:events";
import { createServer } from "node:net";

export const HOST = "127.0.0.1";

/** @param port 0 for any */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  server.listen(port, HOST);
  try {
    await once(server, "listening");
  } catch {
    return undefined;
  }
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address ? address.port : undefined;
}

export const isFree = async (port: number): Promise<boolean> => (await tryPort(port)) !== undefined;

/** For a peer that cannot pick a port by itself. Another process may take it meanwhile; that is seen at start. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error(`no free port on ${HOST}`);
  return port;
}
