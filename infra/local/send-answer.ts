// Sends a whole answer to an HTTP client.

import type { ServerResponse } from "node:http";
import type { HttpAnswer } from "./gateway-answer.ts";

export function sendAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}
