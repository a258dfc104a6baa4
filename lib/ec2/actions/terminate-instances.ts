import type { TerminateInstancesRequest, TerminateInstancesResult } from "@aws-sdk/client-ec2";
import type { Action } from "../action.ts";
import { changeInstances } from "../state-change.ts";

/** `Force` and `SkipOsShutdown` change nothing: a guest that is terminated is not waited for. */
export const terminateInstances: Action<TerminateInstancesRequest, TerminateInstancesResult> = async (
  input,
  principal,
  deps,
  call,
) => ({ TerminatingInstances: await changeInstances("terminate", input, principal, deps, call) });
