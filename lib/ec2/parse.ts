// Parameters -> an action's input in the SDK's shape, by schema.
//
// Every name is walked through the schema, so what is not in AWS's model is UnknownParameter without a list of
// ours, and members are written under the schema's names, never under the request's (`__proto__` is just unknown).
// Names are case-sensitive, as they are at AWS.

import { Fault } from "../fault.ts";
import type { Parameters } from "./parameters.ts";
import { parseScalar } from "./scalar.ts";
import { isScalar, type Member, type Ref, SCHEMA, type Scalar } from "./schema.ts";
import { missing, unknown } from "./wording.ts";

/** Longest list in a request; EC2's own limits are at or below it. */
const MAX_LIST = 1000;

/** Parameters of the protocol itself. `X-Amz-*` are those of a presigned URL, which has authorised the request by now. */
const PROTOCOL = new Set(["Action", "Version"]);
const PRESIGNED = /^x-amz-/i;

export interface ParseOptions {
  /** Take the SDK's member names too (`InstanceIds` for `InstanceId`), for events that people write as JSON. */
  memberNames?: boolean;
}

type Fields = Record<string, unknown>;
interface OpenList {
  name: string;
  items: unknown[];
}

/** Where one parameter's value goes, or what is wrong with its name. */
type Slot = { holder: Fields | unknown[]; key: string | number; kind: Scalar } | { fault: Fault };

/**
 * @param action one that the schema has
 * @throws Fault UnknownParameter, InvalidParameterValue, MissingParameter
 */
export function parseInput(action: string, parameters: Parameters, options: ParseOptions = {}): Fields {
  const { input: shape, required = [] } = SCHEMA.actions[action]!;
  const input: Fields = {};
  const lists: OpenList[] = [];
  // All names first: an unknown parameter is told before a malformed one, wherever it stands.
  const slots: [string, string, Slot][] = [];
  for (const [name, text] of parameters) {
    if (PROTOCOL.has(name) || PRESIGNED.test(name)) continue;
    slots.push([name, text, slotOf(input, shape, name, lists, options)]);
  }
  for (const [name, text, slot] of slots) {
    if ("fault" in slot) throw slot.fault;
    (slot.holder as Fields)[slot.key] = parseScalar(slot.kind, name, text);
  }
  refuseGaps(lists);
  for (const member of required) {
    if (input[member] === undefined) throw missing(wireName(shape, member));
  }
  return input;
}

/** Walks one name through the schema, making the structures and lists on its way. */
function slotOf(input: Fields, shape: string, name: string, lists: OpenList[], options: ParseOptions): Slot {
  const segments = name.split(".");
  let ref = shape as Ref;
  let holder: Fields | unknown[] = { root: input };
  let key: string | number = "root";
  for (const [at, segment] of segments.entries()) {
    if (isScalar(ref)) throw unknown(name);
    if (typeof ref === "string") {
      const member = membersOf(ref, options).get(segment);
      if (!member) throw unknown(name);
      holder = open(holder, key, () => ({})) as Fields;
      [key, ref] = member;
    } else {
      const index = indexOf(segment);
      if (index === undefined) {
        // `Tag.Item.1` names a member that there is not; `InstanceId.x` is an index that is no number.
        if (at < segments.length - 1 && !/^[-+\d]/.test(segment)) throw unknown(name);
        return { fault: badIndex(name, segment) };
      }
      holder = open(holder, key, () => {
        const list: OpenList = { name: segments.slice(0, at).join("."), items: [] };
        lists.push(list);
        return list.items;
      }) as unknown[];
      key = index - 1;
      ref = ref[0];
    }
  }
  if (!isScalar(ref)) throw unknown(name);
  return { holder, key, kind: ref };
}

/** What is at `key`, made when it is not there yet. */
function open(holder: Fields | unknown[], key: string | number, make: () => unknown): unknown {
  const fields = holder as Fields;
  fields[key] ??= make();
  return fields[key];
}

function indexOf(segment: string): number | undefined {
  if (!/^[1-9]\d{0,3}$/.test(segment)) return undefined;
  const index = Number(segment);
  return index <= MAX_LIST ? index : undefined;
}

const badIndex = (name: string, segment: string): Fault =>
  new Fault(
    "InvalidParameterValue",
    `The parameter ${name} has the index '${segment}'; expecting 1 to ${MAX_LIST}, without leading zeros`,
  );

/** A list with a gap is refused: dropping ids from a TerminateInstances, or closing ranks, would be guessing. */
function refuseGaps(lists: readonly OpenList[]): void {
  for (const { name, items } of lists) {
    for (let index = 0; index < items.length; index++) {
      if (index in items) continue;
      throw new Fault(
        "InvalidParameterValue",
        `The list ${name} has a gap: ${name}.${index + 1} is missing and ${name}.${items.length} is there`,
      );
    }
  }
}

/** Members by their names in a request, per structure; made when a structure is first met. */
const byWireName = new Map<string, ReadonlyMap<string, Member>>();
const byEitherName = new Map<string, ReadonlyMap<string, Member>>();

function membersOf(shape: string, { memberNames = false }: ParseOptions): ReadonlyMap<string, Member> {
  const cache = memberNames ? byEitherName : byWireName;
  let members = cache.get(shape);
  if (!members) {
    const all = SCHEMA.inputs[shape]!;
    members = new Map([
      ...(memberNames ? all.map((member) => [member[0], member] as const) : []),
      ...all.map((member) => [member[2] ?? member[0], member] as const),
    ]);
    cache.set(shape, members);
  }
  return members;
}

function wireName(shape: string, member: string): string {
  const found = SCHEMA.inputs[shape]!.find(([name]) => name === member);
  return found?.[2] ?? member;
}
