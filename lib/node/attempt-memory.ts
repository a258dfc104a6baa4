// The highest attempt that this node has seen of each launch, across restarts.
//
// Every verb of a launch passes here first. A lower attempt is superseded and changes nothing; that is what keeps a
// gateway that slept through its successor's work, or a message that was delayed, from starting a guest twice.
//
// The file is appended to without fsync: what is written survives the death of this process, and a machine that lost
// its power takes longer to come back than any deadline lasts. What starts a guest is synced with the instance itself.

import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { type Attempt, compareAttempts, formatAttempt, parseAttempt } from "../attempt.ts";

interface Seen {
  attempt: Attempt;
  /** Epoch milliseconds, since it outlives the process. */
  at: number;
}

export class AttemptMemory {
  readonly #file: string;
  readonly #rememberMs: number;
  readonly #seen = new Map<string, Seen>();
  #fd: number;
  #lines = 0;

  /** @param file is read when it is there, and rewritten without what is older than `rememberMs` */
  constructor(file: string, rememberMs: number) {
    this.#file = file;
    this.#rememberMs = rememberMs;
    for (const line of readLines(file)) {
      const [reservation, text, at] = line.split(" ");
      const attempt = parseAttempt(text ?? "");
      // A last line cut short by the process's death is no attempt and is left out.
      if (reservation && attempt && at) this.#keep(reservation, attempt, Number(at));
    }
    this.#fd = this.#rewrite();
  }

  highest(reservation: string): Attempt | undefined {
    return this.#seen.get(reservation)?.attempt;
  }

  /**
   * Notes that `attempt` was seen.
   * @returns the attempt that supersedes it, or undefined when none does
   */
  see(reservation: string, attempt: Attempt): Attempt | undefined {
    const known = this.highest(reservation);
    const order = known ? compareAttempts(attempt, known) : 1;
    if (order < 0) return known;
    if (order > 0) {
      const at = Date.now();
      this.#keep(reservation, attempt, at);
      writeSync(this.#fd, lineOf(reservation, attempt, at));
      if (++this.#lines > MOST_LINES) {
        const full = this.#fd;
        this.#fd = this.#rewrite();
        closeSync(full);
      }
    }
    return undefined;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #keep(reservation: string, attempt: Attempt, at: number): void {
    const known = this.#seen.get(reservation);
    if (!known || compareAttempts(attempt, known.attempt) > 0) this.#seen.set(reservation, { attempt, at });
  }

  #rewrite(): number {
    const oldest = Date.now() - this.#rememberMs;
    for (const [reservation, seen] of this.#seen) if (seen.at < oldest) this.#seen.delete(reservation);
    const lines = [...this.#seen].map(([reservation, { attempt, at }]) => lineOf(reservation, attempt, at));
    writeFileSync(`${this.#file}.new`, lines.join(""));
    renameSync(`${this.#file}.new`, this.#file);
    this.#lines = 0;
    return openSync(this.#file, "a");
  }
}

/** Appended lines after which the file is written anew: a few hundred kilobytes. */
const MOST_LINES = 5000;

const lineOf = (reservation: string, attempt: Attempt, at: number): string =>
  `${reservation} ${formatAttempt(attempt)} ${at}\n`;

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
