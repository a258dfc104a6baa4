// The stack's log: every line of every part goes to a file, and what a person should see to stderr with its name.

import { createWriteStream, type WriteStream } from "node:fs";

/** How many of a part's last lines are kept to be shown when it dies. */
const LAST_LINES = 12;
/** A part that floods the terminal hides the others; beyond this many lines a second the file has the rest. */
const SHOWN_PER_SECOND = 12;
const RECENT_MS = 3000;
/** What a part says again and again is news once in this while. */
const AGAIN_MS = 30_000;
/** A stack trace of a minified bundle quotes all of it, in one line. */
const LINE_CHARACTERS = 400;

export type Stream = "stdout" | "stderr";

export class Journal {
  readonly file: string;
  readonly #out: WriteStream;
  readonly #show: (text: string) => void;
  readonly #last = new Map<string, { line: string; shownAt: number }[]>();
  readonly #shown = new Map<string, { second: number; count: number }>();
  /** When each text was shown, by part and text. */
  readonly #said = new Map<string, number>();

  constructor(file: string, show = (text: string): void => void process.stderr.write(text)) {
    this.file = file;
    this.#show = show;
    this.#out = createWriteStream(file, { flags: "a" });
    this.#out.on("error", () => {});
  }

  /** A line of a part's own output. */
  write(part: string, stream: Stream, line: string): void {
    this.#out.write(`${new Date().toISOString()} ${part} ${line}\n`);
    const notable = notableText(stream, line);
    const show = notable !== undefined && this.#isNews(part, notable) && this.#mayShow(part);
    if (show) this.say(`${part}: ${shorten(notable)}`);
    const last = this.#last.get(part) ?? [];
    last.push({ line, shownAt: show ? Date.now() : 0 });
    if (last.length > LAST_LINES) last.shift();
    this.#last.set(part, last);
  }

  /** What the stack itself has to say. */
  say(text: string): void {
    this.#show(`${text}\n`);
  }

  /** What a part said last, without what a person has just read. */
  lastLines(part: string): string[] {
    const recent = Date.now() - RECENT_MS;
    const last = this.#last.get(part) ?? [];
    return last.flatMap(({ line, shownAt }) => (shownAt < recent && line.trim() ? [shorten(line)] : []));
  }

  async close(): Promise<void> {
    await new Promise<void>((done) => this.#out.end(done));
  }

  #isNews(part: string, text: string): boolean {
    const now = Date.now();
    const key = `${part} ${text}`;
    if (now - (this.#said.get(key) ?? 0) < AGAIN_MS) return false;
    for (const [old, at] of this.#said) if (now - at >= AGAIN_MS) this.#said.delete(old);
    this.#said.set(key, now);
    return true;
  }

  #mayShow(part: string): boolean {
    const second = Math.floor(Date.now() / 1000);
    const shown = this.#shown.get(part);
    if (shown?.second !== second) {
      this.#shown.set(part, { second, count: 1 });
      return true;
    }
    shown.count++;
    if (shown.count === SHOWN_PER_SECOND + 1) this.say(`${part}: … more in ${this.file}`);
    return shown.count <= SHOWN_PER_SECOND;
  }
}

const shorten = (line: string): string =>
  line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS)} …` : line;

const NOTABLE_LEVELS = new Set(["warn", "warning", "error", "fatal"]);

/** Lambda's text format: time, request id, level, message, with tabs between them. */
const LAMBDA_LINE = /^\S+Z\t\S+\t([A-Z]+)\t(.*)$/s;
/** nats-server: `[pid] date time [INF] message`. Its warnings here are only that this is no production set-up. */
const NATS_LINE = /^\[\d+\] \S+ \S+ \[([A-Z]{3})\] (.*)$/;

/** @returns what to show of a line, or undefined for one that only the file keeps */
export function notableText(stream: Stream, line: string): string | undefined {
  const nats = NATS_LINE.exec(line);
  if (nats) return nats[1] === "ERR" || nats[1] === "FTL" ? nats[2] : undefined;
  const lambda = LAMBDA_LINE.exec(line);
  const message = lambda?.[2] ?? line;
  const fields = readObject(message);
  if (fields) return isNotable(fields) ? describe(fields) : undefined;
  if (lambda)
    return NOTABLE_LEVELS.has(lambda[1]!.toLowerCase()) ? message.replaceAll("\r", "\n  ") : undefined;
  // Anything else on stderr is a runtime's own complaint: a stack trace, a failed assertion.
  return stream === "stderr" && line.trim() ? line : undefined;
}

const isNotable = (fields: Record<string, unknown>): boolean =>
  fields.error !== undefined || NOTABLE_LEVELS.has(String(fields.level).toLowerCase());

/** How many lines of a stack trace say where it was. */
const STACK_LINES = 3;

/** What happened and why, of a line written for programs. */
function describe({ event, action, code, message, error }: Record<string, unknown>): string {
  const why = error === undefined ? [] : [String(error).split("\n").slice(0, STACK_LINES).join("\n")];
  return [event, action, code, message, ...why].filter((word) => word !== undefined).join(": ");
}

function readObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
