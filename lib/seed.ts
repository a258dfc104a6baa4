// The plain dialect of today's clusters: a RunInstancesInput as JSON with the SDK's names goes in, a Reservation or
// `{"Code","Message"}` comes out. Those two keys only: today's readers take anything more for a success.

import * as z from "zod/mini";
import { INSTANCE_TYPE_NAME } from "./capacity.ts";
import { type Instance, type Placed, placedOf, STATE_CODES } from "./instance.ts";
import type { LaunchRef } from "./wire.ts";

const maybe = <S extends z.ZodMiniType>(schema: S) => z.nullish(schema);

/** What a node reads of a launch. Nulls stand for absent, as Go's encoder writes them. */
export const launchInputSchema = z.object({
  ImageId: z.string(),
  InstanceType: z.string().check(z.regex(INSTANCE_TYPE_NAME)),
  MinCount: z.int().check(z.gt(0)),
  MaxCount: z.int().check(z.gt(0)),
  KeyName: maybe(z.string()),
  UserData: maybe(z.string()),
  ClientToken: maybe(z.string()),
  TagSpecifications: maybe(
    z.array(
      z.object({
        ResourceType: maybe(z.string()),
        Tags: maybe(z.array(z.object({ Key: maybe(z.string()), Value: maybe(z.string()) }))),
      }),
    ),
  ),
});

export type LaunchInput = z.infer<typeof launchInputSchema>;

export interface SeedError {
  Code: string;
  Message: string | null;
}

export const seedError = (code: string, message: string | null = null): SeedError => ({
  Code: code,
  Message: message,
});

/** An instance of a launch, whole: what was asked for, and where it was placed. */
export function instanceOf(launch: LaunchRef, input: LaunchInput, placed: Placed): Instance {
  return {
    ...placedOf(placed),
    account: launch.account,
    reservation: launch.reservation,
    ...(launch.key ? { launchKey: launch.key } : {}),
    type: input.InstanceType,
    imageId: input.ImageId,
    changedAt: placed.launchedAt,
    ...(input.KeyName ? { keyName: input.KeyName } : {}),
    ...(input.UserData ? { userData: input.UserData } : {}),
    ...(input.ClientToken ? { clientToken: input.ClientToken } : {}),
    tags: tagsOf(input),
  };
}

/** The tags that a launch puts on its instances. */
export function tagsOf(input: LaunchInput): { key: string; value: string }[] {
  return (input.TagSpecifications ?? [])
    .filter((spec) => spec.ResourceType === "instance")
    .flatMap((spec) => spec.Tags ?? [])
    .map((tag) => ({ key: tag.Key ?? "", value: tag.Value ?? "" }));
}

/** The Reservation of a plain request's reply, as aws-sdk-go v1 would decode it. */
export function asReservation(instances: readonly Instance[]): Record<string, unknown> {
  return {
    ReservationId: instances[0]?.reservation,
    OwnerId: instances[0]?.account,
    Groups: [],
    Instances: instances.map((instance) => ({
      InstanceId: instance.id,
      ImageId: instance.imageId,
      InstanceType: instance.type,
      AmiLaunchIndex: instance.index,
      State: { Code: STATE_CODES[instance.state], Name: instance.state },
      LaunchTime: new Date(instance.launchedAt).toISOString(),
      ...(instance.keyName ? { KeyName: instance.keyName } : {}),
      Tags: instance.tags.map(({ key, value }) => ({ Key: key, Value: value })),
    })),
  };
}
