// Other people's programs that tests run, and what to install where one is missing.

import { execFile } from "node:child_process";
import type { Stack } from "./stack.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

/** @throws Error with `missing` when the command cannot be run */
export async function require(command: string, args: readonly string[], missing: string): Promise<void> {
  const ran = await run(command, args).catch(() => undefined);
  if (ran?.code !== 0) throw new Error(missing);
}

/** What an AWS client finds in its environment: this stack, one try a call, and nothing of the user's own. */
export const awsEnvironment = ({ ready }: Stack): NodeJS.ProcessEnv => ({
  AWS_ACCESS_KEY_ID: ready.accessKeyId,
  AWS_SECRET_ACCESS_KEY: ready.secretAccessKey,
  AWS_SESSION_TOKEN: undefined,
  AWS_DEFAULT_REGION: ready.region,
  AWS_REGION: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_RETRY_MODE: "standard",
  AWS_MAX_ATTEMPTS: "1",
  AWS_PAGER: "",
});
