// A process that does nothing but answer: what the far end of a bare NATS request costs.

import { connect } from "nats.ws";

const {
  BARE_URL: servers,
  BARE_USER: user,
  BARE_PASSWORD: pass,
  BARE_SUBJECT,
  BARE_REPLY_BYTES,
} = process.env;
const connection = await connect({ servers, user, pass } as Parameters<typeof connect>[0] & object);
const reply = new Uint8Array(Number(BARE_REPLY_BYTES)).fill("x".charCodeAt(0));
connection.subscribe(BARE_SUBJECT!, { callback: (_error, message) => void message.respond(reply) });
await connection.flush();
process.send?.("ready");
process.once("disconnect", () => process.exit(0));
