// `npm run check`: types, lint and format, import layers, generated files, and the template when cfn-lint is there.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { layerFaults, readImports } from "./layers.ts";
import { packageFunctions } from "./package.ts";

const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules", ".bin", name);

/** osls names a dependency per route that CloudFormation would see by itself. */
const ALLOWED_LINT = "W3005";

interface Verdict {
  ok: boolean;
  words: string;
}

/** THE TABLE of checks. */
const CHECKS: Record<string, () => Promise<Verdict>> = {
  types: () => run(bin("tsc"), ["--pretty", "false"]),
  "lint and format": () => run(bin("biome"), ["check", "--error-on-warnings"]),
  "import layers": async () => {
    const faults = layerFaults(readImports(root));
    return { ok: faults.length === 0, words: faults.join("\n") };
  },
  "generated files": () => run(process.execPath, [join(root, "infra", "generate.ts"), "--check"]),
  template: async () => {
    if (!onPath("cfn-lint"))
      return { ok: true, words: "cfn-lint is not on PATH; the template was not looked at" };
    const template = join(await packageFunctions(), "cloudformation-template-update-stack.json");
    return await run("cfn-lint", ["--ignore-checks", ALLOWED_LINT, "--template", template]);
  },
};

const onPath = (command: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));

function run(command: string, args: readonly string[]): Promise<Verdict> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: Number.POSITIVE_INFINITY }, (error, stdout, stderr) =>
      resolve({ ok: !error, words: `${stdout}${stderr}`.trim() }),
    );
  });
}

let failed = 0;
// One after another: each uses all cores already.
for (const [name, check] of Object.entries(CHECKS)) {
  const { ok, words } = await check();
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (words && (!ok || name === "template")) console.log(words.replace(/^/gm, "       "));
  if (!ok) failed++;
}
process.exitCode = failed ? 1 : 0;
