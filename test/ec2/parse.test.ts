// Reading parameters must end in an input or in a fault that is not retried, whatever they are.

import { expect, test } from "vitest";
import { ACTIONS } from "../../lib/ec2/actions.ts";
import { readParameters } from "../../lib/ec2/parameters.ts";
import { parseInput } from "../../lib/ec2/parse.ts";
import { SCHEMA } from "../../lib/ec2/schema.ts";
import { Fault } from "../../lib/fault.ts";

const SEED = 20_260_102;
const ROUNDS = 20_000;

/** mulberry32: the same inputs in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("twenty thousand made-up requests end in an input or in a refusal", () => {
  const next = random(SEED);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const names = Object.values(SCHEMA.inputs).flatMap((members) =>
    members.map(([name, , wire]) => wire ?? name),
  );
  const odd = [
    "__proto__",
    "constructor",
    "0",
    "1",
    "01",
    "1000",
    "1001",
    "-1",
    "1e3",
    "",
    "%",
    "%zz",
    "%00",
    "item",
  ];
  const values = ["", "1", "true", "x", "2026-01-02", "%F0%9F%98%80", "+", "YQ==", "%", "=", "9".repeat(40)];
  for (let round = 0; round < ROUNDS; round++) {
    const text = Array.from({ length: Math.floor(next() * 6) }, () => {
      const segments = Array.from({ length: 1 + Math.floor(next() * 4) }, () =>
        pick(next() < 0.7 ? names : odd),
      );
      return `${segments.join(".")}=${pick(values)}`;
    }).join("&");
    const action = pick(Object.keys(ACTIONS));
    const read = () => parseInput(action, readParameters(text));
    try {
      expect(Object.getPrototypeOf(read())).toBe(Object.prototype);
    } catch (error) {
      expect(error, text).toBeInstanceOf(Fault);
      expect((error as Fault).status, text).toBe(400);
    }
  }
  expect(Object.keys({})).toEqual([]);
  expect("x" in {}).toBe(false);
});

test.each([
  ["absent", "Action=X", {}],
  ["empty", "BlockDeviceMapping.1.NoDevice=", { BlockDeviceMappings: [{ NoDevice: "" }] }],
  ["without a value", "BlockDeviceMapping.1.NoDevice", { BlockDeviceMappings: [{ NoDevice: "" }] }],
  ["out of order", "SecurityGroupId.2=b&SecurityGroupId.1=a", { SecurityGroupIds: ["a", "b"] }],
  ["encoded", "KeyName=a+b%2B%C3%A9%26", { KeyName: "a b+é&" }],
  ["a flag", "EbsOptimized=false", { EbsOptimized: false }],
])("a parameter that is %s is read so", (_, text, expected) => {
  const input = parseInput("RunInstances", readParameters(`${text}&MinCount=1&MaxCount=1`));
  expect(input).toEqual({ MinCount: 1, MaxCount: 1, ...expected });
});

test("times are read in every form that clients send", () => {
  for (const text of ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678000Z", "2026-01-02"]) {
    const body = `MinCount=1&MaxCount=1&InstanceMarketOptions.SpotOptions.ValidUntil=${text}`;
    const input = parseInput("RunInstances", readParameters(body));
    expect(input).toMatchObject({ InstanceMarketOptions: { SpotOptions: { ValidUntil: new Date(text) } } });
  }
});
