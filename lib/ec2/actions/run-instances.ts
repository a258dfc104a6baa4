// RunInstances: checks the request and hands it to the launch. Checks stand in the order in which EC2 reports them:
// malformed values, missing parameters, combinations, what exists, DryRun; then capacity, which is the launch's.

import type { Reservation, RunInstancesRequest } from "@aws-sdk/client-ec2";
import { capacityOf } from "../../capacity.ts";
import { Fault } from "../../fault.ts";
import type { Action } from "../action.ts";
import { endDryRun } from "../dry-run.ts";
import { reservationItem } from "../instance-item.ts";
import { refuseCombinations, refuseUnsupported } from "../launch-parameters.ts";
import { readTagSpecifications } from "../tag-specifications.ts";
import { readUserData } from "../user-data.ts";
import { invalid, missing } from "../wording.ts";

const IMAGE_ID = /^ami-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

/** As many as a list of ids may name, so that whatever one call launched, one call can end. */
const MAX_COUNT = 1000;

/** EC2's documentation: up to 64 ASCII characters. */
const CLIENT_TOKEN = /^[\x20-\x7e]{1,64}$/;

export const runInstances: Action<RunInstancesRequest, Reservation> = async (
  input,
  principal,
  deps,
  call,
) => {
  const { minCount, maxCount } = readCounts(input);
  if (input.ImageId && !IMAGE_ID.test(input.ImageId)) {
    throw new Fault("MalformedImageId", `Invalid id: "${input.ImageId}" (expecting "ami-...")`);
  }
  const clientToken = readClientToken(input.ClientToken);
  const userData = readUserData(input.UserData);
  const tags = readTagSpecifications(input.TagSpecifications);
  const { ImageId: imageId, InstanceType: type, KeyName: keyName } = input;
  if (!imageId) throw missing("ImageId");
  // AWS falls back to m1.small; a fleet has no such thing.
  if (!type) throw missing("InstanceType");
  refuseCombinations(input);
  refuseUnsupported(input, deps.region);
  // The table is also what keeps wildcards and spaces out of a NATS subject: no type in it has any.
  if (!capacityOf(type)) {
    throw new Fault("InvalidParameterValue", `Invalid value '${type}' for InstanceType.`);
  }
  endDryRun(input);
  const instances = await deps.launch(
    {
      imageId,
      type,
      minCount,
      maxCount,
      tags,
      ...(clientToken ? { clientToken } : {}),
      ...(keyName ? { keyName } : {}),
      ...(userData ? { userData } : {}),
      input: { ...input },
    },
    principal,
    call,
  );
  return reservationItem(instances, deps.region);
};

function readCounts({ MinCount: minCount, MaxCount: maxCount }: RunInstancesRequest) {
  if (minCount === undefined) throw missing("MinCount");
  if (maxCount === undefined) throw missing("MaxCount");
  if (maxCount < 1)
    throw new Fault("InvalidParameterValue", "Maximum instance count must be greater than zero");
  if (minCount < 1)
    throw new Fault("InvalidParameterValue", "Minimum instance count must be greater than zero");
  if (minCount > maxCount) throw invalid("minCount", minCount, `at most maxCount, which is ${maxCount}`);
  if (maxCount > MAX_COUNT) throw invalid("maxCount", maxCount, `at most ${MAX_COUNT}`);
  return { minCount, maxCount };
}

function readClientToken(token: string | undefined): string | undefined {
  if (!token) return undefined;
  if (!CLIENT_TOKEN.test(token)) throw invalid("clientToken", token, "up to 64 ASCII characters");
  return token;
}
