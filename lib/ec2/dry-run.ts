// DryRun: the request has passed every check that can be made without acting, and that is the answer.

import { Fault } from "../fault.ts";

/** @throws Fault DryRunOperation when the request says so */
export function endDryRun({ DryRun }: { DryRun?: boolean | undefined }): void {
  if (DryRun) throw new Fault("DryRunOperation");
}
