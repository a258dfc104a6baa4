// The parameters of a request, by name: query string and body merged, as EC2 reads them.
//
// Everything may come in the query string (presigned URLs, older clients) or in the body. A name that comes twice
// is refused: whichever of the two values were taken, the caller may have meant the other.

import { isUtf8 } from "node:buffer";
import { Fault } from "../fault.ts";

export type Parameters = ReadonlyMap<string, string>;

/** More than any real request has; a body of 1 MiB could hold 300,000. */
const MAX_PARAMETERS = 10_000;

/**
 * @param texts application/x-www-form-urlencoded, each as it came
 * @throws Fault MalformedQueryString, InvalidParameterValue
 */
export function readParameters(...texts: string[]): Parameters {
  const parameters = new Map<string, string>();
  for (const text of texts) {
    if (text === "") continue;
    for (const pair of text.split("&")) {
      if (pair === "") continue;
      const equals = pair.indexOf("=");
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      if (parameters.has(name)) {
        throw new Fault("InvalidParameterValue", `The parameter ${name} is specified more than once`);
      }
      parameters.set(name, equals < 0 ? "" : decode(pair.slice(equals + 1)));
      if (parameters.size > MAX_PARAMETERS) {
        throw new Fault("InvalidParameterValue", `A request may have at most ${MAX_PARAMETERS} parameters`);
      }
    }
  }
  return parameters;
}

/** @throws Fault MalformedQueryString when the body is no text */
export function bodyText(body: Uint8Array): string {
  if (!isUtf8(body)) throw new Fault("MalformedQueryString");
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Fault("MalformedQueryString");
  }
}
