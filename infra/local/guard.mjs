// Ends what the local stack started when the stack itself is killed and cannot.
//
// It reads orders from a pipe that only the stack holds: `watch PID`, `forget PID`, `folder PATH` (to be removed).
// When the pipe closes, all that is still watched is killed. A process that is stopped dies of SIGKILL too.

import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

const watched = new Set();
let folder;

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [order, subject] = line.split(/ (.*)/s);
    if (order === "watch") watched.add(Number(subject));
    if (order === "forget") watched.delete(Number(subject));
    if (order === "folder") folder = subject;
  })
  .on("close", () => {
    for (const pid of watched) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was gone already.
      }
    }
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
