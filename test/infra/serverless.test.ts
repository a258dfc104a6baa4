import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseCloudFormation } from "../../infra/local/cloud-formation.ts";
import { environmentOf } from "../../infra/local/environment.ts";
import { readFunctions } from "../../infra/local/functions.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const FILE = join(ROOT, "serverless.yml");
const functions = readFunctions(FILE);

interface Service {
  provider: { iam: { role: { statements: { Action: string[] }[] } } };
  functions: Record<string, { package: { patterns: string[] } }>;
}
const service = parseCloudFormation(readFileSync(FILE, "utf8")) as Service;

test("the role allows exactly the DynamoDB operations that the product sends", () => {
  const sources = readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(ROOT, "lib", name), "utf8"));
  const sent = sources.flatMap((text) =>
    [...text.matchAll(/\b(\w*Item\w*|Query|Scan)Command\(/g)].map(([, name]) => name!),
  );
  const allowed = service.provider.iam.role.statements.flatMap(({ Action }) => Action);

  expect(new Set(allowed.filter((action) => action.startsWith("dynamodb:")))).toEqual(
    new Set(sent.map((name) => `dynamodb:${name}`)),
  );
});

test("every variable of every function has a local value", () => {
  const places = { fleetFile: "/f", natsUrl: "ws://n", dynamodbUrl: "http://d" };
  for (const fn of functions)
    expect(Object.keys(environmentOf(fn, places))).toEqual(expect.arrayContaining(fn.environment));
});

test("a function behind API Gateway ends before API Gateway gives up", () => {
  for (const { name, routes, timeoutMs } of functions) {
    if (routes.length > 0) expect(timeoutMs, name).toBeLessThan(30_000);
  }
});

test("each zip holds the folder that its handler is in", () => {
  for (const { name, handler } of functions) {
    const folder = handler.split("/").slice(0, -1).join("/");
    expect(service.functions[name]!.package.patterns, name).toEqual([`${folder}/**`]);
  }
});

test("routes, the streaming URL and time limits are read as the stack runs them", () => {
  expect(
    functions.map(({ name, routes, url }) => [
      name,
      url,
      ...routes.map(({ method, path }) => `${method} ${path}`),
    ]),
  ).toEqual([
    ["ec2", false, "POST /", "GET /"],
    ["inference", false, "ANY /v1/{proxy+}", "GET /health"],
    ["inference-stream", true],
  ]);
});
