import type { StopInstancesRequest, StopInstancesResult } from "@aws-sdk/client-ec2";
import { Fault } from "../../fault.ts";
import type { Action } from "../action.ts";
import { changeInstances } from "../state-change.ts";

/** `Force` and `SkipOsShutdown` change nothing yet: how a guest is stopped is its driver's. */
export const stopInstances: Action<StopInstancesRequest, StopInstancesResult> = async (
  input,
  principal,
  deps,
  call,
) => {
  // The caller would expect memory to survive.
  if (input.Hibernate)
    throw new Fault("Unsupported", "The parameter Hibernate is not supported: guests cannot hibernate");
  return { StoppingInstances: await changeInstances("stop", input, principal, deps, call) };
};
