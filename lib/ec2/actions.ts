// THE TABLE of actions. A row here, then `npm run generate`: parsing, unknown parameters and XML come from AWS's
// own model.

import type { Action } from "./action.ts";
import { describeAvailabilityZones } from "./actions/describe-availability-zones.ts";
import { describeInstanceTypes } from "./actions/describe-instance-types.ts";
import { describeInstances } from "./actions/describe-instances.ts";
import { describeRegions } from "./actions/describe-regions.ts";
import { rebootInstances } from "./actions/reboot-instances.ts";
import { runInstances } from "./actions/run-instances.ts";
import { startInstances } from "./actions/start-instances.ts";
import { stopInstances } from "./actions/stop-instances.ts";
import { terminateInstances } from "./actions/terminate-instances.ts";

export const ACTIONS = {
  RunInstances: runInstances,
  DescribeInstances: describeInstances,
  StartInstances: startInstances,
  StopInstances: stopInstances,
  RebootInstances: rebootInstances,
  TerminateInstances: terminateInstances,
  DescribeInstanceTypes: describeInstanceTypes,
  DescribeRegions: describeRegions,
  DescribeAvailabilityZones: describeAvailabilityZones,
} as const;

export type ActionName = keyof typeof ACTIONS;

/**
 * An action as the face sees it. Its input is parsed by the schema of the same name, which is what makes the type
 * it asks for true.
 */
export function actionNamed(name: string): Action<unknown, object> | undefined {
  return Object.hasOwn(ACTIONS, name) ? (ACTIONS[name as ActionName] as Action<unknown, object>) : undefined;
}
