// A gateway for tests of the wire: the real face and handler over records that the test gives it. What nodes do is
// tested against real nodes elsewhere.

import type { AccessKey } from "../../lib/config.ts";
import type { Ec2Deps, LaunchRequest } from "../../lib/ec2/deps.ts";
import { createEc2Face } from "../../lib/ec2/face.ts";
import { createHandler, type LambdaHandler } from "../../lib/http/handler.ts";
import type { LogLine } from "../../lib/http/log.ts";
import type { Instance } from "../../lib/instance.ts";
import type { Kept } from "../../lib/secret.ts";

export const REGION = "us-east-1";

export const KEY: AccessKey = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  account: "000000000001",
};

export const record = (overrides: Partial<Instance> = {}): Instance => ({
  id: "i-0000000000000000a",
  node: "node-1",
  account: KEY.account,
  reservation: "r-0000000000000000a",
  attempt: { fence: 1, n: 1 },
  index: 0,
  type: "t3.micro",
  imageId: "ami-0000000000000000a",
  state: "running",
  launchedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  tags: [],
  ...overrides,
});

export interface TestGateway {
  handler: LambdaHandler;
  launches: LaunchRequest[];
  log: LogLine[];
}

/** @param records what the account has; a launch answers the first of them */
export function gatewayOver(
  records: Instance[],
  overrides: Partial<Ec2Deps> = {},
  keys: Kept<readonly AccessKey[]> = [KEY],
): TestGateway {
  const launches: LaunchRequest[] = [];
  const log: LogLine[] = [];
  const deps: Ec2Deps = {
    region: REGION,
    launch: async (request) => {
      launches.push(request);
      return records.slice(0, request.maxCount);
    },
    instances: {
      describe: async (_account, ids) => records.filter(({ id }) => ids?.includes(id) ?? true),
      change: async (_account, _change, ids) =>
        ids.map((id) => ({ id, previous: "running" as const, current: "stopping" as const })),
    },
    ...overrides,
  };
  const face = createEc2Face(deps, keys);
  return { handler: createHandler(face, { answerMs: 500, log: (line) => log.push(line) }), launches, log };
}
