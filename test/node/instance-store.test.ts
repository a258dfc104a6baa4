import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Instance } from "../../lib/instance.ts";
import { InstanceStore } from "../../lib/node/instance-store.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nightporter-store-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const instance = (id: string, state: Instance["state"] = "pending"): Instance => ({
  id,
  state,
  node: "a",
  account: "000000000001",
  reservation: "r-1",
  attempt: { fence: 1, n: 1 },
  index: 0,
  type: "t3.micro",
  imageId: "ami-0000000000000000a",
  launchedAt: 1,
  tags: [],
});

const fileOf = (id: string) => join(dir, `${id}.json`);

test("what was put is there at the next start, as it was last", () => {
  const store = new InstanceStore(dir);
  store.put([instance("i-1"), instance("i-2")]);
  store.put([instance("i-1", "running")]);
  store.remove("i-2");
  expect(new InstanceStore(dir).all()).toEqual([instance("i-1", "running")]);
});

test("a file that was synced and lost its rename is taken for what it is, over an older state too", () => {
  new InstanceStore(dir).put([instance("i-1"), instance("i-2")]);
  renameSync(fileOf("i-1"), `${fileOf("i-1")}.new`);
  writeFileSync(`${fileOf("i-2")}.new`, JSON.stringify(instance("i-2", "stopped")));
  const found = new InstanceStore(dir).all().sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(found).toEqual([instance("i-1"), instance("i-2", "stopped")]);
  expect(readdirSync(dir).sort()).toEqual(["i-1.json", "i-2.json"]);
});

test("a file cut short is removed and does no harm", () => {
  new InstanceStore(dir).put([instance("i-1")]);
  writeFileSync(`${fileOf("i-1")}.new`, '{"id":"i-1","sta');
  expect(new InstanceStore(dir).get("i-1")).toEqual(instance("i-1"));
  expect(existsSync(`${fileOf("i-1")}.new`)).toBe(false);
});

test("a write that fails leaves nothing that a later start would take up", () => {
  const store = new InstanceStore(dir);
  // A folder of that name stands in the way of the second file.
  mkdirSync(`${fileOf("i-2")}.new`);
  expect(() => store.put([instance("i-1"), instance("i-2")])).toThrow();
  expect(existsSync(`${fileOf("i-1")}.new`)).toBe(false);
  expect(store.all()).toEqual([]);
});

test("a file that is no instance keeps the daemon from starting, by its name", () => {
  writeFileSync(fileOf("i-1"), "{}");
  expect(() => new InstanceStore(dir)).toThrow(fileOf("i-1"));
});
