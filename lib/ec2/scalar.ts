// The text of one parameter -> the value its schema says it has.

import type { Scalar } from "./schema.ts";
import { invalid } from "./wording.ts";

const INTEGER = /^-?\d+$/;
/** ISO 8601; botocore sends six digits of a second, others none. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * An empty text is a value for a string, and for nothing else.
 * @throws Fault InvalidParameterValue naming the parameter
 */
export function parseScalar(
  kind: Scalar,
  name: string,
  text: string,
): string | number | boolean | Date | Uint8Array {
  switch (kind) {
    case "string":
      return text;
    case "number": {
      // The SDK's schema does not tell integers from the rest; no action in our table takes a fraction.
      const value = Number(text);
      if (!INTEGER.test(text) || !Number.isSafeInteger(value)) throw invalid(name, text, "an integer");
      return value;
    }
    case "boolean":
      if (text !== "true" && text !== "false") throw invalid(name, text, "true or false");
      return text === "true";
    case "timestamp": {
      const value = new Date(text);
      if (!TIMESTAMP.test(text) || Number.isNaN(value.getTime())) {
        throw invalid(name, text, "an ISO 8601 time such as 2026-01-02T03:04:05Z");
      }
      return value;
    }
    case "blob":
      if (!BASE64.test(text)) throw invalid(name, text, "base64");
      return Buffer.from(text, "base64");
    default:
      return kind satisfies never;
  }
}
