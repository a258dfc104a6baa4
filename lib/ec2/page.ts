// One page of a Describe action, and the token for the next.
//
// A token names the key of the last item given, not a position: what came or went meanwhile moves no page. It also
// carries a digest of who asked and for what, so that it continues only the listing that gave it. It is not
// signed: whoever forged one would gain a page of a listing that is theirs anyway.

import { Fault } from "../fault.ts";
import { sha256Hex } from "./sha256.ts";
import { invalid } from "./wording.ts";

export interface PageRequest {
  MaxResults?: number | undefined;
  NextToken?: string | undefined;
}

export interface PageRules<Item> {
  /** Bounds of MaxResults, from the API's documentation of the action. */
  min: number;
  max: number;
  /** Unique, and items are sorted by it. */
  key(item: Item): string;
  /** The account and whatever chooses the items. */
  listing: unknown;
}

/** @throws Fault InvalidParameterValue, InvalidParameterCombination */
export function checkPage(
  request: PageRequest,
  ids: { name: string; given: boolean },
  rules: { min: number; max: number },
): void {
  const { MaxResults: size } = request;
  if (size === undefined) return;
  // EC2's words: "Value ( 1 ) for parameter maxResults is invalid. Expecting a value greater than 5."
  if (size < rules.min) throw invalid("maxResults", size, `a value greater than ${rules.min}`);
  if (size > rules.max) throw invalid("maxResults", size, `a value less than or equal to ${rules.max}`);
  if (ids.given) {
    throw new Fault(
      "InvalidParameterCombination",
      `The parameter ${ids.name} cannot be used with the parameter maxResults`,
    );
  }
}

/** Without MaxResults everything is one page; the end is where there is no token. */
export function page<Item>(
  items: readonly Item[],
  request: PageRequest,
  rules: PageRules<Item>,
): { items: Item[]; nextToken?: string } {
  const digest = sha256Hex(JSON.stringify(rules.listing)).slice(0, DIGEST_CHARACTERS);
  const keyed = items
    .map((item) => ({ item, key: rules.key(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const after = request.NextToken ? readToken(request.NextToken, digest) : "";
  const rest = keyed.filter(({ key }) => key > after);
  const size = request.MaxResults ?? rest.length;
  const taken = rest.slice(0, size);
  const last = taken.at(-1);
  return {
    items: taken.map(({ item }) => item),
    ...(last && rest.length > size ? { nextToken: writeToken(last.key, digest) } : {}),
  };
}

const DIGEST_CHARACTERS = 16;

const writeToken = (key: string, digest: string): string => Buffer.from(digest + key).toString("base64url");

function readToken(token: string, digest: string): string {
  const text = Buffer.from(token, "base64url").toString();
  if (!text.startsWith(digest)) {
    throw new Fault("InvalidParameterValue", "The parameter NextToken does not belong to this listing");
  }
  return text.slice(DIGEST_CHARACTERS);
}
