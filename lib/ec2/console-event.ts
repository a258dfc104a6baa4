// Events from Lambda's console, `aws lambda invoke` or EventBridge: `{"Action":"RunInstances", …}`.
//
// Parameters go by the names they have in a request, numbers and booleans as JSON's own, and `Tag.1.Key` may be
// written as a list of objects. They are flattened into a request's parameters and read as one, so nothing that
// the API refuses gets in here.

import { Fault } from "../fault.ts";
import type { Parameters } from "./parameters.ts";

/** @throws Fault MissingAction when the event is no object at all */
export function readConsoleEvent(event: unknown): Parameters {
  if (typeof event !== "object" || event === null || Array.isArray(event)) throw new Fault("MissingAction");
  const parameters = new Map<string, string>();
  flatten(parameters, "", event);
  return parameters;
}

function flatten(parameters: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  if (typeof value !== "object") {
    parameters.set(name, String(value));
    return;
  }
  const entries = Array.isArray(value)
    ? value.map((item, index) => [String(index + 1), item] as const)
    : Object.entries(value);
  for (const [key, item] of entries) flatten(parameters, name === "" ? key : `${name}.${key}`, item);
}
