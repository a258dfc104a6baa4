// The instances of this node, in memory and on disk: one file each, written whole, synced, renamed.
//
// What was synced is kept, whether or not the rename that follows was: a power cut may undo a rename, whose folder is
// not synced. So a whole temporary file found at the start takes its place then, and only one cut short is removed.

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
    for (const name of readdirSync(dir)) if (name.endsWith(TEMPORARY)) finishRename(join(dir, name));
    for (const name of readdirSync(dir)) this.#read(join(dir, name));
  }

  get(id: string): Instance | undefined {
    return this.#instances.get(id);
  }

  all(): Instance[] {
    return [...this.#instances.values()];
  }

  /** Stores all of them; when this returns they survive the process. When it throws, none of the writes is left. */
  put(instances: readonly Instance[]): void {
    try {
      for (const instance of instances)
        writeSynced(`${this.#fileOf(instance.id)}${TEMPORARY}`, JSON.stringify(instance));
    } catch (error) {
      for (const { id } of instances) rmSync(`${this.#fileOf(id)}${TEMPORARY}`, { force: true });
      throw error;
    }
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

function finishRename(temporary: string): void {
  try {
    JSON.parse(readFileSync(temporary, "utf8"));
  } catch {
    rmSync(temporary);
    return;
  }
  renameSync(temporary, temporary.slice(0, -TEMPORARY.length));
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
