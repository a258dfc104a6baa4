// esbuild: one ESM bundle per function and one for the daemon.
//
// Each function is built into a folder of its own, chunks and all, since that folder is all its zip holds. Chunks
// carry a hash in their name and files are replaced by renaming, so building under a running stack (tests do, all at
// once) never shows a sandbox half a bundle.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type BuildOptions, build as bundle, stop } from "esbuild";

const root = join(import.meta.dirname, "..");
export const DIST = join(root, "dist");

const SHARED = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // ESM builds first: the AWS clients' CommonJS builds need a `require` that an ESM bundle does not have.
  mainFields: ["module", "main"],
  // The build of `yaml` for Node is CommonJS and needs a `require` too; its other build is ESM and does the same.
  alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
  minify: true,
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  outExtension: { ".js": ".mjs" },
  chunkNames: "[name]-[hash]",
  logLevel: "warning",
  write: false,
} as const satisfies BuildOptions;

export interface Bundle {
  /** `node`, or the function's name. */
  name: string;
  folder: string;
  /** Bytes of the entry, which is what a cold start loads first, and of the chunks beside it. */
  entry: number;
  chunks: number;
}

/**
 * @param prune removes the chunks of earlier builds; only for packaging, since a running sandbox may still want one
 */
export async function build({ prune = false } = {}): Promise<Bundle[]> {
  const functions = readdirSync(join(root, "functions"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => basename(file, ".ts"));
  const bundles = await Promise.all([
    ...functions.map((name) =>
      make(name, `functions/${name}.ts`, join(DIST, "functions", name), true, prune),
    ),
    make("node", "lib/node/main.ts", join(DIST, "node"), false, prune),
  ]);
  // esbuild's own process would stay as long as this one.
  await stop();
  return bundles;
}

async function make(
  name: string,
  source: string,
  folder: string,
  splitting: boolean,
  prune: boolean,
): Promise<Bundle> {
  const result = await bundle({
    ...SHARED,
    entryPoints: { index: source },
    outdir: folder,
    splitting,
  });
  const code = result.outputFiles.filter(({ path }) => path.endsWith(".mjs"));
  // Chunks before the entry that names them.
  for (const file of result.outputFiles.toReversed()) replace(file.path, file.contents);
  if (prune) {
    const made = new Set(result.outputFiles.map(({ path }) => basename(path)));
    for (const file of readdirSync(folder)) if (!made.has(file)) rmSync(join(folder, file));
  }
  const entry = code.find(({ path }) => basename(path) === "index.mjs")!.contents.length;
  const all = code.reduce((sum, { contents }) => sum + contents.length, 0);
  return { name, folder, entry, chunks: all - entry };
}

function replace(path: string, contents: Uint8Array): void {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

if (import.meta.main) {
  const start = performance.now();
  for (const { name, folder, entry, chunks } of await build()) {
    const beside = chunks ? ` and ${Math.ceil(chunks / 1024)} KB in chunks` : "";
    console.error(`${name}: ${relative(root, folder)}/index.mjs, ${Math.ceil(entry / 1024)} KB${beside}`);
  }
  console.error(`built in ${Math.round(performance.now() - start)} ms`);
}
