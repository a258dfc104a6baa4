import type { RebootInstancesRequest } from "@aws-sdk/client-ec2";
import type { Action } from "../action.ts";
import { changeInstances } from "../state-change.ts";

/** Answers `<return>true</return>`: the model has no output shape for it. */
export const rebootInstances: Action<RebootInstancesRequest, Record<string, never>> = async (
  input,
  principal,
  deps,
  call,
) => {
  await changeInstances("reboot", input, principal, deps, call);
  return {};
};
