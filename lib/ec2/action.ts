// One action of the EC2 API: input in the SDK's shape in, output in the SDK's shape out.

import type { Call, Ec2Deps, Principal } from "./deps.ts";

export type Action<Input, Output> = (
  input: Input,
  principal: Principal,
  deps: Ec2Deps,
  call: Call,
) => Promise<Output>;
