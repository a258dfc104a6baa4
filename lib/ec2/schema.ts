// The shapes of our actions as `npm run generate` wrote them from AWS's own model.
//
// Names are already resolved by the rules of the EC2 query protocol: a member's third place is the name it has in
// a request or an answer, where that is not the member's own name.

import generated from "./schema.json" with { type: "json" };

export type Scalar = "string" | "number" | "boolean" | "timestamp" | "blob";

/** A scalar, the name of a structure, or a list. A list's second place is the element name of its items in XML. */
export type Ref = Scalar | StructureName | readonly [item: Ref, itemName?: string];

/** Starts with a capital letter, unlike every scalar. */
type StructureName = `${Capital}${string}`;
// biome-ignore format: one line says it best
type Capital = "A"|"B"|"C"|"D"|"E"|"F"|"G"|"H"|"I"|"J"|"K"|"L"|"M"|"N"|"O"|"P"|"Q"|"R"|"S"|"T"|"U"|"V"|"W"|"X"|"Y"|"Z";

export type Member = readonly [member: string, ref: Ref, wireName?: string];

export interface ActionSchema {
  input: StructureName;
  /** Absent for the actions that answer `<return>true</return>`. */
  output?: StructureName;
  /** Members that a request must carry. */
  required?: readonly string[];
}

export interface Schema {
  actions: Readonly<Record<string, ActionSchema>>;
  /** Structures as requests spell them. */
  inputs: Readonly<Record<string, readonly Member[]>>;
  /** Structures as answers spell them. */
  outputs: Readonly<Record<string, readonly Member[]>>;
}

export const SCHEMA = generated as unknown as Schema;

export const isScalar = (ref: Ref): ref is Scalar => typeof ref === "string" && ref.charAt(0) >= "a";
