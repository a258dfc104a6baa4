// SHA-256, and HMAC-SHA-256 when given a key, in the form in which @smithy/signature-v4 takes a hash.

import { createHash, createHmac, type Hash, type Hmac, hash } from "node:crypto";

export class Sha256 {
  #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash("sha256")
        : createHmac("sha256", secret as string | NodeJS.ArrayBufferView);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    this.#hash = createHash("sha256");
  }
}

export const sha256Hex = (data: string | Uint8Array): string => hash("sha256", data, "hex");
