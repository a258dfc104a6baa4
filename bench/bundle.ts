// The bundle of functions/ec2: what a cold start has to read, and what a deploy has to carry.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "../infra/build.ts";
import type { Figure, Findings } from "./figure.ts";

const KB = 1024;
const ENTRY = "index.mjs";

/** Static and dynamic imports of a chunk, as esbuild writes them. */
const IMPORTED = /"\.\/([\w-]+\.mjs)"/g;

export async function measureBundle(): Promise<Findings> {
  const { folder } = (await build()).find(({ name }) => name === "ec2")!;
  const sizes = reachable(folder).map((file) => sizeOf(join(folder, file)));
  const entry = sizeOf(join(folder, ENTRY));
  const total = (what: keyof Size) => sizes.reduce((sum, size) => sum + size[what], 0);
  const figure = (name: string, raw: number, gzip: number, how: string): Figure => ({
    figure: `bundle.${name}`,
    value: raw / KB,
    unit: "KB",
    beside: { gzipKB: gzip / KB },
    how,
  });
  return {
    figures: [
      figure("entry", entry.raw, entry.gzip, "functions/ec2's entry, minified; every cold start loads it"),
      figure(
        "whole",
        total("raw"),
        total("gzip"),
        `the entry and its ${sizes.length - 1} chunks, source maps apart`,
      ),
    ],
  };
}

/** The folder may hold chunks of earlier builds, which a running sandbox may still want; they are not counted. */
function reachable(folder: string): string[] {
  const found = new Set([ENTRY]);
  for (const file of found) {
    for (const [, name] of readFileSync(join(folder, file), "utf8").matchAll(IMPORTED)) found.add(name!);
  }
  return [...found];
}

interface Size {
  raw: number;
  gzip: number;
}

function sizeOf(file: string): Size {
  const bytes = readFileSync(file);
  return { raw: bytes.length, gzip: gzipSync(bytes).length };
}
