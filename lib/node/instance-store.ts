// The instances of this node, in memory and on disk: one file each, written whole, synced, renamed.
//
// An instance exists once its file has its name. A process that dies in between leaves a temporary file, which the
// next start removes.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Instance, instanceSchema } from "../instance.ts";

const TEMPORARY = ".new";

export class InstanceStore {
  readonly #dir: string;
  readonly #instances = new Map<string, Instance>();

  /**
   * @param dir is made when it is not there
   * @throws Error naming the file that is not an instance
   */
  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
    for (const name of readdirSync(dir)) {
      const file = join(dir, name);
      if (name.endsWith(TEMPORARY)) rmSync(file);
      else this.#read(file);
    }
  }

  get(id: string): Instance | undefined {
    return this.#instances.get(id);
  }

  all(): Instance[] {
    return [...this.#instances.values()];
  }

  /** Stores all of them; when this returns they survive the process. */
  put(instances: readonly Instance[]): void {
    for (const instance of instances)
      writeSynced(`${this.#fileOf(instance.id)}${TEMPORARY}`, JSON.stringify(instance));
    for (const instance of instances) {
      const file = this.#fileOf(instance.id);
      renameSync(`${file}${TEMPORARY}`, file);
      this.#instances.set(instance.id, instance);
    }
  }

  remove(id: string): void {
    rmSync(this.#fileOf(id), { force: true });
    this.#instances.delete(id);
  }

  #fileOf(id: string): string {
    return join(this.#dir, `${id}.json`);
  }

  #read(file: string): void {
    let given: unknown;
    try {
      given = JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
      throw new Error(`${file} is not an instance: ${(error as Error).message}`);
    }
    const parsed = instanceSchema.safeParse(given);
    if (!parsed.success) throw new Error(`${file} is not an instance: ${parsed.error.issues[0]?.message}`);
    this.#instances.set(parsed.data.id, parsed.data);
  }
}

function writeSynced(file: string, text: string): void {
  const fd = openSync(file, "w");
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
