import type { StartInstancesRequest, StartInstancesResult } from "@aws-sdk/client-ec2";
import type { Action } from "../action.ts";
import { changeInstances } from "../state-change.ts";

export const startInstances: Action<StartInstancesRequest, StartInstancesResult> = async (
  input,
  principal,
  deps,
  call,
) => ({ StartingInstances: await changeInstances("start", input, principal, deps, call) });
