import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { schemaText } from "../../infra/generate.ts";
import { ACTIONS } from "../../lib/ec2/actions.ts";
import { SCHEMA } from "../../lib/ec2/schema.ts";

test("the checked-in schema is what the SDK says", () => {
  const file = readFileSync(new URL("../../lib/ec2/schema.json", import.meta.url), "utf8");
  expect(file).toBe(schemaText());
});

test("the schema has exactly the actions of the table", () => {
  expect(Object.keys(SCHEMA.actions)).toEqual(Object.keys(ACTIONS));
});
