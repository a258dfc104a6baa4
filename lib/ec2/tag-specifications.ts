// TagSpecifications of a launch -> the tags of its instances. Limits and words are EC2's.

import type { Tag, TagSpecification } from "@aws-sdk/client-ec2";
import { Fault } from "../fault.ts";

/**
 * What RunInstances can tag. Only instances are kept here: the Terraform provider's default_tags and most launch
 * scripts tag volumes along with the instance, and refusing a tag on what does not exist would help nobody.
 */
const TAGGABLE = new Set([
  "instance",
  "volume",
  "network-interface",
  "spot-instances-request",
  "elastic-gpu",
]);

const MAX_TAGS = 50;
const MAX_KEY_CHARACTERS = 128;
const MAX_VALUE_CHARACTERS = 256;

/** @throws Fault InvalidParameterValue, TagLimitExceeded */
export function readTagSpecifications(
  specifications: readonly TagSpecification[] | undefined,
): { key: string; value: string }[] {
  const byType = new Map<string, Map<string, string>>();
  for (const { ResourceType: type, Tags: tags = [] } of specifications ?? []) {
    if (!type) throw wrong("Tag specification resource type must have a value");
    if (!TAGGABLE.has(type))
      throw wrong(`'${type}' is not a valid taggable resource type for this operation.`);
    if (tags.length === 0) throw wrong("Tag specification must have at least one tag");
    const taken = byType.get(type) ?? new Map<string, string>();
    byType.set(type, taken);
    for (const tag of tags) addTag(taken, tag);
  }
  return [...(byType.get("instance") ?? [])].map(([key, value]) => ({ key, value }));
}

function addTag(tags: Map<string, string>, { Key: key, Value: value = "" }: Tag): void {
  if (!key) throw wrong("Tag keys must have at least one character");
  if ([...key].length > MAX_KEY_CHARACTERS) {
    throw wrong(`Tag key exceeds the maximum length of ${MAX_KEY_CHARACTERS} characters`);
  }
  if ([...value].length > MAX_VALUE_CHARACTERS) {
    throw wrong(`Tag value exceeds the maximum length of ${MAX_VALUE_CHARACTERS} characters`);
  }
  if (/^aws:/i.test(key)) throw wrong("Tag keys starting with 'aws:' are reserved for internal use");
  if (tags.has(key)) throw wrong(`Duplicate tag key '${key}' specified.`);
  tags.set(key, value);
  if (tags.size > MAX_TAGS) {
    throw new Fault("TagLimitExceeded", `More than ${MAX_TAGS} tags were specified for one resource`);
  }
}

const wrong = (message: string): Fault => new Fault("InvalidParameterValue", message);
