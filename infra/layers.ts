// Which file may import which: imports point down through the layers and never across, except within one folder.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";

/** THE TABLE of layers, the lowest first. A name is a file or a folder of `lib`; `functions` is the folder beside it. */
export const LAYERS: readonly (readonly string[])[] = [
  ["fault", "capacity", "patience"],
  ["config", "fleet-file", "instance", "attempt", "windows", "secret", "secret-stores"],
  ["wire", "table", "seed", "exchange", "nats-connect"],
  ["http", "bus", "flight", "node"],
  ["fleet", "launch"],
  ["wake", "sweep"],
  ["ec2", "openai"],
  ["functions"],
];

export interface Import {
  /** Both relative to the repository. */
  from: string;
  to: string;
}

/** @returns one sentence per import that breaks the rule, and per file that the table does not know */
export function layerFaults(imports: readonly Import[]): string[] {
  return [...new Set(imports.flatMap(({ from, to }) => faultOf(from, to) ?? []))];
}

function faultOf(from: string, to: string): string | undefined {
  const [above, below] = [unitOf(from), unitOf(to)];
  if (!above) return `${from} is in no layer; give it a place in infra/layers.ts`;
  if (!below) return `${from} imports ${to}, which is in no layer of the product`;
  if (above.name === below.name || below.layer < above.layer) return undefined;
  // Single files of one layer lie in one folder, lib itself.
  if (above.single && below.single && below.layer === above.layer) return undefined;
  const way = below.layer === above.layer ? "across" : "up";
  return `${from} imports ${way}: ${to} (layer ${below.layer}) is not below ${above.name} (layer ${above.layer})`;
}

function unitOf(file: string): { name: string; layer: number; single: boolean } | undefined {
  const [top, second = ""] = file.split("/");
  if (top !== "lib" && top !== "functions") return undefined;
  const single = top === "lib" && file.split("/").length === 2;
  const name = top === "functions" ? top : second.replace(/\.ts$/, "");
  const layer = LAYERS.findIndex((names) => names.includes(name));
  return layer < 0 ? undefined : { name, layer, single };
}

/** Static and lazy imports and re-exports of one's own files, types included: a type is a dependency too. */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)"(\.[^"]+)"/g;

/** @param root the repository */
export function readImports(root: string): Import[] {
  return ["lib", "functions"].flatMap((folder) => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const from = join(folder, file);
        const text = readFileSync(join(root, from), "utf8");
        return [...text.matchAll(IMPORT)].map(([, path]) => ({
          from: from.split(sep).join("/"),
          to: relative(".", normalize(join(dirname(from), path!)))
            .split(sep)
            .join("/"),
        }));
      });
  });
}
