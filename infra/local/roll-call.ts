// Asks the daemons how they see the fleet, until all of them see all of it.

import { setTimeout as delay } from "node:timers/promises";
import { type Bus, createBus } from "../../lib/bus.ts";
import { readWindows } from "../../lib/windows.ts";
import type { Answer } from "../../lib/wire.ts";
import { GATEWAY_USER } from "./account.ts";
import type { Part } from "./part.ts";

const ASK_MS = 1000;
const LOOK_MS = 40;
/** Fifty daemons on two cores take 15 s to know each other. */
const PATIENCE_MS = 60_000;

export class RollCall {
  readonly #bus: Bus;

  constructor(url: string) {
    const { name: user, password } = GATEWAY_USER;
    this.#bus = createBus({ url, user, password }, readWindows(undefined), () => {});
  }

  /** Waits until the daemon answers at all. */
  async untilAnswers(name: string, part: Part): Promise<void> {
    await this.#until(part, `${name} answers`, async () => (await this.#ask(name)) !== undefined);
  }

  /** Waits until the daemon takes launches and knows all the others. */
  async untilJoined(name: string, part: Part, others: readonly string[]): Promise<void> {
    await this.#until(part, `${name} knows the whole fleet`, async () => {
      const status = await this.#ask(name);
      return Boolean(status?.joined && others.every((other) => status.roster.includes(other)));
    });
  }

  async close(): Promise<void> {
    await this.#bus.close();
  }

  /** @returns undefined while nobody is subscribed, or it is too busy starting to answer */
  async #ask(name: string): Promise<Answer<"status"> | undefined> {
    const exchange = await this.#bus.exchange();
    const asked = await exchange.ask(name, "status", {}, ASK_MS);
    return asked.outcome === "answered" ? asked.answer : undefined;
  }

  async #until(part: Part, what: string, look: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; part.alive && Date.now() < end; await delay(LOOK_MS)) {
      if (await look()) return;
    }
    throw new Error(
      `waited in vain until ${what}: ${part.alive ? `${PATIENCE_MS / 1000} s are over` : "it died"}`,
    );
  }
}
