// What the four actions that change instances have in common: ids in, each instance's states before and after out.

import type { InstanceStateChange } from "@aws-sdk/client-ec2";
import type { Change } from "../instance.ts";
import type { Call, Ec2Deps, Principal } from "./deps.ts";
import { endDryRun } from "./dry-run.ts";
import { readInstanceIds } from "./instance-ids.ts";
import { stateItem } from "./instance-item.ts";
import { missing } from "./wording.ts";

interface ChangeRequest {
  InstanceIds?: string[] | undefined;
  DryRun?: boolean | undefined;
}

/**
 * @returns the changes in the order in which the instances were named
 * @throws Fault MissingParameter on an empty list, which never means "all"
 */
export async function changeInstances(
  change: Change,
  input: ChangeRequest,
  { account }: Principal,
  deps: Ec2Deps,
  call: Call,
): Promise<InstanceStateChange[]> {
  if (!input.InstanceIds?.length) throw missing("InstanceId");
  const ids = readInstanceIds(input.InstanceIds);
  if (input.DryRun) await deps.instances.describe(account, ids, call);
  endDryRun(input);
  const changes = new Map(
    (await deps.instances.change(account, change, ids, call)).map((one) => [one.id, one]),
  );
  return ids
    .map((id) => changes.get(id))
    .filter((one) => one !== undefined)
    .map(({ id, previous, current }) => ({
      InstanceId: id,
      CurrentState: stateItem(current),
      PreviousState: stateItem(previous),
    }));
}
