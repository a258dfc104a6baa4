// The daemon's process: settings, signals, exit codes.

import { startDaemon } from "./daemon.ts";
import { createLog } from "./log.ts";
import { readNodeSettings } from "./settings.ts";

/** What is in hand must be finished by then; a second signal does not wait. */
const STOP_WITHIN_MS = 5000;

async function main(): Promise<void> {
  const settings = readNodeSettings(process.env);
  const log = createLog(settings.name);
  const abort = new AbortController();
  let stop: (() => Promise<void>) | undefined;
  const leave = (): void => {
    if (abort.signal.aborted) process.exit(0);
    abort.abort();
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    (stop?.() ?? Promise.resolve()).then(
      () => process.exit(0),
      (error) => {
        log.error("stop", error);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", leave);
  process.on("SIGINT", leave);
  stop = (await startDaemon(settings, log, abort.signal)).stop;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
