// A secret: a value that stands in its variable itself, or one that stands in a store that the variable names.
//
// 1. A plain value stays what it is: nothing is loaded or awaited for it.
// 2. What stands in a store is read once and then held for `secretMs`. Wall clock: others may stand still in a frozen
//    sandbox, and a value withdrawn meanwhile would live on.
// 3. Refused (an authorisation failed), it is read again at once, but one such reading serves everybody for
//    `secretAgainMs`: whoever signs wrongly must not be able to drive the store.
// 4. No message holds a value, nor a part of one; callers hear the variable's name, the log why.

import { Fault } from "./fault.ts";
import type { Windows } from "./windows.ts";

/** THE TABLE of stores: what may follow the name and a colon. `secret-stores.ts` has the client of each. */
const PLACES = {
  ssm: /^(?:[\w.-]+|(?:\/[\w.-]+)+)$/,
  secretsmanager: /^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+$/,
} as const satisfies Record<string, RegExp>;

export type StoreName = keyof typeof PLACES;

const STORE_NAMES = Object.keys(PLACES) as StoreName[];

export const REFERENCE =
  "ssm:NAME such as ssm:/nightporter/dev/access-keys, or secretsmanager:ARN such as " +
  "secretsmanager:arn:aws:secretsmanager:us-east-1:000000000001:secret:nightporter/dev/access-keys-a1b2c3";

export interface SecretSettings {
  region: string;
  windows: Pick<Windows, "secretMs" | "secretAgainMs">;
}

/** A value, or the secret that holds it. */
export type Kept<T> = T | Secret<T>;

/**
 * @param text what the variable holds
 * @param parse throws an Error that names the variable and what was expected
 * @throws that Error for a plain value; for a reference, one if it is malformed
 */
export function keep<T>(
  variable: string,
  text: string,
  parse: (text: string) => T,
  settings: SecretSettings,
): Kept<T> {
  const store = STORE_NAMES.find((name) => text.startsWith(`${name}:`));
  if (!store) return parse(text);
  const place = text.slice(store.length + 1);
  if (!PLACES[store].test(place)) {
    throw new Error(`${variable} begins with ${store}: and is no reference; expected ${REFERENCE}`);
  }
  return new Secret({ variable, store, place, parse, ...settings });
}

/** @throws Fault ServiceUnavailable naming the variable */
export const current = <T>(kept: Kept<T>): T | Promise<T> => (kept instanceof Secret ? kept.value() : kept);

/**
 * After the value was refused: a newer one, or the same (`===`) where there is none.
 * @throws Fault ServiceUnavailable naming the variable
 */
export const renewed = <T>(kept: Kept<T>): T | Promise<T> => (kept instanceof Secret ? kept.again() : kept);

/**
 * Reads it for a cold start. A store out of reach is no failure yet: it may be back by the first request.
 * @throws Error naming the variable and what was expected, when the store has nothing that would do
 */
export const opened = async (kept: unknown): Promise<void> => {
  if (kept instanceof Secret) await kept.open();
};

interface SecretOptions<T> extends SecretSettings {
  variable: string;
  store: StoreName;
  place: string;
  parse: (text: string) => T;
}

const RETRY_AFTER_SECONDS = 1;

/** A store's answers that no repetition changes, and our own: there is something, and it will not do. */
const MALFORMED = "Malformed";
const FINAL = new Set(["ParameterNotFound", "ResourceNotFoundException", "AccessDeniedException", MALFORMED]);

export class Secret<T> {
  readonly #options: SecretOptions<T>;
  #read: (() => Promise<string | undefined>) | undefined;
  #held: { text: string; value: T; readAt: number } | undefined;
  #reading: Promise<T> | undefined;
  #again: { at: number; reading: Promise<T> } | undefined;

  constructor(options: SecretOptions<T>) {
    this.#options = options;
  }

  value(): T | Promise<T> {
    const held = this.#held;
    if (held && Date.now() - held.readAt < this.#options.windows.secretMs) return held.value;
    return this.#refresh();
  }

  async again(): Promise<T> {
    const now = Date.now();
    if (!this.#again || now - this.#again.at >= this.#options.windows.secretAgainMs) {
      this.#again = { at: now, reading: this.#refresh() };
    }
    await this.#again.reading;
    // Not what that reading gave: it may be older than the value that was refused.
    return this.value();
  }

  async open(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      if (cause instanceof Unread && cause.final) throw cause;
    }
  }

  #refresh(): Promise<T> {
    this.#reading ??= this.#fetch().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #fetch(): Promise<T> {
    const { variable, store, place, region } = this.#options;
    const readAt = Date.now();
    try {
      this.#read ??= (await import("./secret-stores.ts")).STORES[store](place, region);
      const text = (await this.#read()) ?? "";
      const value = this.#held?.text === text ? this.#held.value : this.#parse(text);
      this.#held = { text, value, readAt };
      return value;
    } catch (error) {
      const { name, code = name, message } = error as NodeJS.ErrnoException;
      const words = `${variable} is ${store}:${place}, which should hold it for this function to read: ${code}: ${message}`;
      throw new Fault("ServiceUnavailable", `The gateway cannot read its ${variable}: ${code}`, {
        cause: new Unread(words, FINAL.has(name)),
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  #parse(text: string): T {
    try {
      if (!text) throw new Error("it holds no text");
      return this.#options.parse(text);
    } catch (error) {
      throw Object.assign(error as Error, { name: MALFORMED });
    }
  }
}

class Unread extends Error {
  /** Whether it stays so until somebody changes what is in the store, or who may read it. */
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.final = final;
  }
}
