// What the EC2 face asks of the layers below: the smallest collaborators that the actions need.

import type { Call } from "../http/call.ts";
import type { Change, Instance, InstanceState } from "../instance.ts";

export type { Call };

/** Who asks. An event from the console has no key: IAM let it in, and it acts for the first account configured. */
export interface Principal {
  account: string;
  accessKeyId?: string;
}

/** One RunInstances, validated. */
export interface LaunchRequest {
  imageId: string;
  type: string;
  minCount: number;
  maxCount: number;
  clientToken?: string;
  keyName?: string;
  /** Base64, without line breaks. */
  userData?: string;
  tags: { key: string; value: string }[];
  /** The parsed RunInstancesInput under the SDK's member names: what goes to the nodes as JSON. */
  input: Record<string, unknown>;
}

export interface StateChange {
  id: string;
  previous: InstanceState;
  current: InstanceState;
}

export interface Ec2Deps {
  region: string;
  /** @throws Fault when nothing was launched, or when that is not known */
  launch(request: LaunchRequest, principal: Principal, call: Call): Promise<Instance[]>;
  instances: {
    /**
     * All instances of the account, or those named. Ids are well-formed and each is named once.
     * @throws Fault UnknownInstance naming all that do not exist; ServiceUnavailable when the view is not complete
     */
    describe(account: string, ids: readonly string[] | undefined, call: Call): Promise<Instance[]>;
    /**
     * Checks all, then acts on all.
     * @throws Fault UnknownInstance, IncorrectInstanceState, InsufficientInstanceCapacity, ServiceUnavailable
     */
    change(account: string, change: Change, ids: readonly string[], call: Call): Promise<StateChange[]>;
  };
}
