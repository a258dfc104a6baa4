// Requests and answers against AWS's own model, every member of every action of the table.

import { afterAll, expect, test } from "vitest";
import { ACTIONS } from "../../lib/ec2/actions.ts";
import { readParameters } from "../../lib/ec2/parameters.ts";
import { parseInput } from "../../lib/ec2/parse.ts";
import { render } from "../../lib/ec2/render.ts";
import { openAwsModel } from "./aws-model.ts";

const model = openAwsModel();
afterAll(() => model[Symbol.dispose]());

const actions = Object.keys(ACTIONS);

test.each(actions)("every member of a %s request is read as botocore wrote it", async (action) => {
  const { params, body } = await model.ask({ do: "sample", action });

  const input = parseInput(action, readParameters(body));

  expect(asJson(input)).toEqual(params);
});

test.each(actions)("every member of a %s answer reaches botocore", async (action) => {
  const { output } = await model.ask({ do: "outputs", action });

  const { body } = render(action, withDates(output ?? {}), "the-request");

  const { ResponseMetadata, ...decoded } = await model.ask({ do: "decode", action, status: 200, xml: body });
  expect(decoded).toEqual(output ?? {});
  expect(ResponseMetadata.RequestId).toBe("the-request");
});

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The child sends times as text; actions give them as dates. */
function withDates(value: unknown): unknown {
  if (typeof value === "string") return /^2026-01-02T[\d:.]+Z$/.test(value) ? new Date(value) : value;
  if (Array.isArray(value)) return value.map(withDates);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDates(item)]));
}
