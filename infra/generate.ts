// Writes lib/ec2/schema.json: the request and answer shapes of exactly the actions in our table, from the schemas
// that @aws-sdk/client-ec2 ships. `--check` writes nothing and exits 1 when the file is not what would be written.
//
// The SDK itself is not loaded by the gateway: it costs hundreds of milliseconds of cold start.

import { readFileSync, writeFileSync } from "node:fs";
import * as ec2 from "@aws-sdk/client-ec2";
import { NormalizedSchema } from "@smithy/core/schema";
import { ACTIONS } from "../lib/ec2/actions.ts";
import type { ActionSchema, Member, Ref, Schema } from "../lib/ec2/schema.ts";

const FILE = new URL("../lib/ec2/schema.json", import.meta.url);

type Direction = "inputs" | "outputs";
type Shapes = Record<string, readonly Member[]>;

/** The name of a member on the wire, by the rules of the EC2 query protocol. */
const WIRE_NAME: Readonly<Record<Direction, (member: string, traits: Traits) => string>> = {
  inputs: (member, { ec2QueryName, xmlName }) => ec2QueryName ?? (xmlName ? capitalised(xmlName) : member),
  outputs: (member, { xmlName }) => xmlName ?? member,
};

interface Traits {
  ec2QueryName?: string;
  xmlName?: string;
}

/** The SDK types its traits loosely; these two are strings wherever they are. */
const traitsOf = (schema: NormalizedSchema): Traits => schema.getMergedTraits() as Traits;

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Collects the structures that `schema` reaches into `shapes`; a structure met again is only named, so recursion ends. */
function refOf(schema: NormalizedSchema, direction: Direction, shapes: Shapes): Ref {
  if (schema.isListSchema()) {
    const item = schema.getValueSchema();
    const ref = refOf(item, direction, shapes);
    const { xmlName: name = "member" } = traitsOf(item);
    return direction === "inputs" || name === "item" ? [ref] : [ref, name];
  }
  if (schema.isStructSchema()) return structure(schema, direction, shapes);
  if (schema.isBooleanSchema()) return "boolean";
  if (schema.isNumericSchema()) return "number";
  if (schema.isTimestampSchema()) return "timestamp";
  if (schema.isBlobSchema()) return "blob";
  if (schema.isStringSchema()) return "string";
  throw new Error(`${schema.getName(true)} is of a kind that the EC2 protocol here does not know`);
}

function structure(schema: NormalizedSchema, direction: Direction, shapes: Shapes): ActionSchema["input"] {
  const name = schema.getName() as ActionSchema["input"];
  if (!Object.hasOwn(shapes, name)) {
    const members: Member[] = [];
    shapes[name] = members;
    for (const [member, memberSchema] of schema.structIterator()) {
      const wireName = WIRE_NAME[direction](member, traitsOf(memberSchema));
      const ref = refOf(memberSchema, direction, shapes);
      members.push(wireName === member ? [member, ref] : [member, ref, wireName]);
    }
  }
  return name;
}

/** The place of each part in the SDK's static schemas: an operation's, and a structure's. */
const OPERATION = { input: 4, output: 5 } as const;
const STRUCTURE = { members: 4, requiredCount: 6 } as const;

/** The SDK wraps most of its schemas in functions, so that they may refer to each other. */
const unwrap = (schema: unknown): readonly unknown[] =>
  (typeof schema === "function" ? schema() : schema) as readonly unknown[];

function actionSchema(action: string, schema: Schema): ActionSchema {
  const operation = (ec2 as Record<string, unknown>)[`${action}$`];
  if (!Array.isArray(operation)) throw new Error(`the SDK has no operation ${action}`);
  const input = unwrap(operation[OPERATION.input]);
  const output = NormalizedSchema.of(operation[OPERATION.output]);
  // The SDK lists required members first and then says how many there are.
  const names = input[STRUCTURE.members] as string[];
  const required = names.slice(0, (input[STRUCTURE.requiredCount] as number | undefined) ?? 0);
  return {
    input: structure(NormalizedSchema.of(operation[OPERATION.input]), "inputs", schema.inputs),
    ...(output.isUnitSchema() ? {} : { output: structure(output, "outputs", schema.outputs) }),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** @returns the text of schema.json, one line a shape so that a change of the SDK reads well in a diff */
export function schemaText(): string {
  const schema = { actions: {} as Record<string, ActionSchema>, inputs: {}, outputs: {} } satisfies Schema;
  for (const action of Object.keys(ACTIONS)) schema.actions[action] = actionSchema(action, schema);
  const sections = Object.entries(schema).map(([section, entries]) => {
    const lines = Object.entries(entries).map(
      ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
    );
    return `  ${JSON.stringify(section)}: {\n${lines.join(",\n")}\n  }`;
  });
  return `{\n${sections.join(",\n")}\n}\n`;
}

if (import.meta.main) {
  const text = schemaText();
  if (!process.argv.includes("--check")) {
    writeFileSync(FILE, text);
  } else if (readFileSync(FILE, "utf8") !== text) {
    console.error("lib/ec2/schema.json is not what the SDK says; run `npm run generate`");
    process.exitCode = 1;
  }
}
