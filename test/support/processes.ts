// The processes of this machine, as far as a test started them.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  args: string;
}

export const childrenOf = (parent: number): Process[] => all().filter((found) => found.parent === parent);

/** @returns false also for one that has ended and waits for its parent to notice */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !existsSync("/proc") || !/^State:\s+Z/m.test(read(pid, "status"));
}

/** Whether it waits for something to happen. Where processes are no files that is not known, and taken to be so. */
export const isAsleep = (pid: number): boolean =>
  !existsSync("/proc/self/stat") || /\) S /.test(read(pid, "stat"));

/** Linux shows processes as files; elsewhere there is `ps`, which small Linux images lack. */
function all(): Process[] {
  return existsSync("/proc/self/stat") ? fromProc() : fromPs();
}

function fromProc(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    // The command's name is in brackets and may hold anything; the parent is the second field after it.
    const parent = Number.isInteger(pid) && read(pid, "stat").split(") ").at(-1)?.split(" ")[1];
    return parent ? [{ pid, parent: Number(parent), args: read(pid, "cmdline").replaceAll("\0", " ") }] : [];
  });
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // Ended meanwhile.
    return "";
  }
}

function fromPs(): Process[] {
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return text.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
    return found ? [{ pid: Number(found[1]), parent: Number(found[2]), args: found[3]! }] : [];
  });
}
