import { expect, test } from "vitest";
import { capacityOf, howMany, parseSize } from "../../lib/capacity.ts";
import { Ledger } from "../../lib/node/ledger.ts";
import { askingOrder } from "../../lib/node/roster.ts";

const size = (text: string) => parseSize(text)!;

function ledgerOf(text: string) {
  let now = 0;
  const ledger = new Ledger({ total: size(text), holdMs: 1000, rememberMs: 60_000, now: () => now });
  return { ledger, pass: (ms: number) => (now += ms) };
}

const first = { fence: 1, n: 1 };
const second = { fence: 1, n: 2 };

test("room is what is neither taken nor held, and what is advertised ignores holds", () => {
  const { ledger } = ledgerOf("8x16");
  expect(ledger.hold("h", "r", first, "t3.micro", 3)).toEqual({ outcome: "held", count: 3 });
  expect(ledger.take("t3.micro", 1)).toBe(true);
  expect(ledger.room("t3.micro")).toBe(0);
  expect(ledger.roomBesideHolds("t3.micro")).toBe(3);
  expect(ledger.held).toBe(3);
});

test("room taken by holds alone is busy; room taken by instances is full", () => {
  const { ledger } = ledgerOf("4x8");
  ledger.hold("h", "r", first, "t3.micro", 2);
  expect(ledger.hold("i", "other", first, "t3.micro", 1)).toEqual({ outcome: "busy" });
  ledger.takeHeld("h", "r", "t3.micro", 2);
  expect(ledger.hold("j", "other", first, "t3.micro", 1)).toEqual({ outcome: "full" });
});

test("a hold lapses, and then it cannot be taken", () => {
  const { ledger, pass } = ledgerOf("4x8");
  ledger.hold("h", "r", first, "t3.micro", 2);
  pass(999);
  expect(ledger.held).toBe(2);
  pass(1);
  expect(ledger.held).toBe(0);
  expect(ledger.takeHeld("h", "r", "t3.micro", 2)).toBe(false);
});

test("a commit of fewer than were held frees the rest", () => {
  const { ledger } = ledgerOf("8x16");
  ledger.hold("h", "r", first, "t3.micro", 4);
  expect(ledger.takeHeld("h", "r", "t3.micro", 1)).toBe(true);
  expect(ledger.room("t3.micro")).toBe(3);
});

test("a newer attempt drops the holds of older ones of its launch alone", () => {
  const { ledger } = ledgerOf("8x16");
  ledger.hold("old", "r", first, "t3.micro", 1);
  ledger.hold("own", "r", second, "t3.micro", 1);
  ledger.hold("other", "s", first, "t3.micro", 1);
  ledger.dropOlder("r", second);
  expect(ledger.held).toBe(2);
});

test("a type that is not on offer fits nowhere", () => {
  const { ledger } = ledgerOf("8x16");
  expect(ledger.room("no.such")).toBe(0);
  expect(ledger.take("no.such", 1)).toBe(false);
});

test.each([
  ["vCPUs run out first", "4x64", "t3.micro", 2],
  ["memory runs out first", "64x4", "t3.large", 0],
  ["a whole number, rounded down", "5x16", "t3.micro", 2],
  ["GPUs that are not there", "64x256", "g5.xlarge", 0],
])("how many fit: %s", (_, node, type, expected) => {
  expect(howMany(size(node), capacityOf(type)!)).toBe(expected);
});

test.each(["", "8", "8x", "x16", "0x16", "8x0", "-1x4", "8x16x2", "a=8x16"])("%j is no size", (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test("the tightest node that takes the whole is asked first, then the roomiest of the rest, silent ones last", () => {
  const peers = [
    { name: "roomy", free: size("32x64"), silent: false },
    { name: "tight", free: size("8x16"), silent: false },
    { name: "small", free: size("2x4"), silent: false },
    { name: "medium", free: size("4x8"), silent: false },
    { name: "quiet", free: size("8x16"), silent: true },
  ];
  expect(askingOrder(peers, "t3.micro", 4)).toEqual([
    { name: "tight", whole: true },
    { name: "roomy", whole: true },
    { name: "medium", whole: false },
    { name: "small", whole: false },
    { name: "quiet", whole: true },
  ]);
});
