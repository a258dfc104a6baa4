// The functions as serverless.yml describes them: what runs, how long, and what calls it.

import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { parseCloudFormation } from "./cloud-formation.ts";
import { parseRate, type Rate } from "./schedule.ts";

const environmentSchema = z.optional(z.record(z.string(), z.unknown()));

const scheduleSchema = z.object({
  rate: z.union([z.string(), z.array(z.string())]),
  enabled: z.optional(z.boolean()),
  input: z.optional(z.record(z.string(), z.unknown())),
  timezone: z.optional(z.string()),
});

const eventSchema = z.union([
  z.object({ httpApi: z.union([z.string(), z.object({ method: z.string(), path: z.string() })]) }),
  z.object({ schedule: z.union([z.string(), scheduleSchema]) }),
]);

const functionSchema = z.object({
  handler: z.string(),
  timeout: z.optional(z.number()),
  memorySize: z.optional(z.number()),
  environment: environmentSchema,
  events: z.optional(z.array(eventSchema)),
  url: z.optional(z.union([z.boolean(), z.object({ invokeMode: z.optional(z.string()) })])),
});

const serviceSchema = z.object({
  service: z.string(),
  provider: z.object({
    timeout: z.optional(z.number()),
    memorySize: z.optional(z.number()),
    environment: environmentSchema,
  }),
  functions: z.record(z.string(), functionSchema),
});

/** osls' own defaults. */
const TIMEOUT_S = 6;
const MEMORY_MIB = 1024;

export interface Route {
  /** Upper case, or ANY. */
  method: string;
  path: string;
}

export interface Schedule {
  rate: Rate;
  /** What the function is given instead of EventBridge's own event. */
  input?: Record<string, unknown>;
}

export interface LambdaFunction {
  name: string;
  handler: string;
  timeoutMs: number;
  memoryMiB: number;
  /** Names of the variables that it is given. */
  environment: string[];
  routes: Route[];
  /** Whether a Function URL calls it. */
  url: boolean;
  schedules: Schedule[];
}

/**
 * @param file serverless.yml
 * @throws Error naming the file and the function
 */
export function readFunctions(file: string): LambdaFunction[] {
  const parsed = serviceSchema.safeParse(parseCloudFormation(readFileSync(file, "utf8")));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  const { provider, functions } = parsed.data;
  return Object.entries(functions).map(([name, fn]) => ({
    name,
    handler: fn.handler,
    timeoutMs: (fn.timeout ?? provider.timeout ?? TIMEOUT_S) * 1000,
    memoryMiB: fn.memorySize ?? provider.memorySize ?? MEMORY_MIB,
    environment: Object.keys({ ...provider.environment, ...fn.environment }),
    routes: (fn.events ?? []).flatMap((event) => ("httpApi" in event ? [readRoute(event.httpApi)] : [])),
    url: Boolean(fn.url),
    schedules: (fn.events ?? []).flatMap((event) =>
      "schedule" in event ? readSchedule(event.schedule, `${file}: function ${name}`) : [],
    ),
  }));
}

function readRoute(given: string | { method: string; path: string }): Route {
  const [method = "", path = ""] = typeof given === "string" ? given.split(" ") : [given.method, given.path];
  return { method: method === "*" ? "ANY" : method.toUpperCase(), path };
}

function readSchedule(given: string | z.infer<typeof scheduleSchema>, place: string): Schedule[] {
  const schedule = typeof given === "string" ? { rate: given } : given;
  if (schedule.enabled === false) return [];
  return [schedule.rate].flat().map((text) => {
    const rate = parseRate(text, schedule.timezone);
    if (!rate)
      throw new Error(`${place}: schedule ${text} is neither rate(…) nor a cron(…) that is run here`);
    return { rate, ...(schedule.input ? { input: schedule.input } : {}) };
  });
}
