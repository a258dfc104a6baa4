import { expect, test } from "vitest";
import { glob } from "../../lib/ec2/glob.ts";

test.each([
  ["web", "web", true],
  ["web", "webs", false],
  ["web", "Web", false],
  ["*", "", true],
  ["web*", "web-1", true],
  ["web*", "a web-1", false],
  ["*web", "a web", true],
  ["*a*b", "xaxxbxb", true],
  ["*a*b", "xbxa", false],
  ["w?b", "web", true],
  ["w?b", "wb", false],
  ["w?b", "w😀b", true],
  ["\\*", "*", true],
  ["\\*", "x", false],
  ["a\\?", "a?", true],
  ["a\\\\b", "a\\b", true],
  ["a\\", "a\\", true],
  ["a.c", "abc", false],
  ["(a|b)+", "a", false],
  ["(a|b)+", "(a|b)+", true],
  ["", "", true],
  ["", "a", false],
])("the pattern %j on %j gives %s", (pattern, text, expected) => {
  expect(glob(pattern)(text)).toBe(expected);
});

test("a pattern of many stars against a long text ends soon", () => {
  const started = performance.now();
  expect(glob(`${"*a".repeat(100)}*b`)("a".repeat(10_000))).toBe(false);
  expect(performance.now() - started).toBeLessThan(500);
});
