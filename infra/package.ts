// `npm run package`: one zip per function and the CloudFormation template, offline and without credentials.

import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.ts";

const root = join(import.meta.dirname, "..");
const OUT = join(root, ".serverless");

/** @returns the folder with the zips and the template */
export async function packageFunctions(): Promise<string> {
  await build({ prune: true });
  try {
    execFileSync(process.execPath, [join(root, "node_modules", ".bin", "osls"), "package"], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, SLS_ANALYTICS_DISABLED: "1", SLS_NOTIFICATIONS_MODE: "off" },
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
    throw new Error(`osls package failed:\n${stdout}${stderr}`);
  }
  return OUT;
}

if (import.meta.main) {
  const out = await packageFunctions();
  for (const zip of readdirSync(out).filter((name) => name.endsWith(".zip"))) {
    const kilobytes = Math.ceil(statSync(join(out, zip)).size / 1024);
    console.log(`${zip}: ${kilobytes} KB`);
  }
}
