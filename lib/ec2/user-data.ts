// User data of a launch. On the wire it is base64 in a string: botocore encodes it for the caller, the JavaScript
// SDK sends what it is given.

import { Fault } from "../fault.ts";
import { BASE64 } from "./scalar.ts";

/** EC2's limit on the decoded bytes. */
const MAX_BYTES = 16 * 1024;

/**
 * @returns the same base64 without the line breaks that `base64` puts in; undefined when there is nothing
 * @throws Fault InvalidUserData
 */
export function readUserData(text: string | undefined): string | undefined {
  const base64 = text?.replaceAll(/[\r\n]/g, "");
  if (!base64) return undefined;
  if (!BASE64.test(base64)) throw new Fault("InvalidUserData", "Invalid BASE64 encoding of user data.");
  if (Buffer.byteLength(base64, "base64") > MAX_BYTES) {
    throw new Fault("InvalidUserData", `User data is limited to ${MAX_BYTES} bytes`);
  }
  return base64;
}
