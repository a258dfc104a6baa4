import { join } from "node:path";
import { expect, test } from "vitest";
import { layerFaults, readImports } from "../../infra/layers.ts";

test("the product's imports point down and never across", () => {
  const imports = readImports(join(import.meta.dirname, "..", ".."));

  expect(imports.length).toBeGreaterThan(50);
  expect(layerFaults(imports)).toEqual([]);
});

test.for([
  ["down", "lib/ec2/face.ts", "lib/fault.ts", undefined],
  ["within one folder", "lib/node/daemon.ts", "lib/node/drivers/memory.ts", undefined],
  ["between single files of one layer", "lib/config.ts", "lib/fleet-file.ts", undefined],
  ["from a function", "functions/ec2.ts", "lib/ec2/face.ts", undefined],
  ["up", "lib/wire.ts", "lib/ec2/parse.ts", /imports up/],
  ["across", "lib/launch/launcher.ts", "lib/fleet/choose.ts", /imports across/],
  ["across, out of a folder", "lib/node/link.ts", "lib/flight/lease.ts", /imports across/],
  ["from function to function", "lib/fleet/choose.ts", "functions/ec2.ts", /imports up/],
  ["out of the product", "lib/table.ts", "infra/local/table.ts", /in no layer of the product/],
  ["from an unknown file", "lib/novelty.ts", "lib/fault.ts", /in no layer; give it a place/],
] as [string, string, string, RegExp | undefined][])("an import %s is judged", ([, from, to, fault]) => {
  const [found] = layerFaults([{ from, to }]);

  if (fault) expect(found).toMatch(fault);
  else expect(found).toBeUndefined();
});
