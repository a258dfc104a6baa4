import { describe, expect, test } from "vitest";
import { FlagError, type Options, readFlags } from "../../infra/local/flags.ts";
import { spawnStack } from "../support/stack.ts";

const read = (line: string) => readFlags(line.split(" ").filter(Boolean)) as Options;

test("without flags there are three nodes, one gateway and the usual port", () => {
  expect(read("")).toEqual({
    nodes: [1, 2, 3].map((n) => ({ name: `node-${n}`, size: "8x16" })),
    gateways: 1,
    sandboxes: 32,
    port: 4000,
    driver: "memory",
    dynamodb: "dynalite",
    json: false,
  });
});

test.for([
  [
    "--nodes a=4x8,b=32x64",
    {
      nodes: [
        { name: "a", size: "4x8" },
        { name: "b", size: "32x64" },
      ],
    },
  ],
  [
    "--nodes=2",
    {
      nodes: [
        { name: "node-1", size: "8x16" },
        { name: "node-2", size: "8x16" },
      ],
    },
  ],
  ["--dynamodb http://127.0.0.1:8000", { dynamodb: new URL("http://127.0.0.1:8000") }],
  ["--gateways 2 --sandboxes 1 --port 0 --json", { gateways: 2, sandboxes: 1, port: 0, json: true }],
  ["--boot-ms 0", { bootMs: 0 }],
  ["--fleet /f.yaml --data /d", { fleet: "/f.yaml", data: "/d" }],
] as [string, Partial<Options>][])("%s is understood", ([line, expected]) => {
  expect(read(line)).toMatchObject(expected);
});

describe("a flag that cannot be obeyed is refused with its name, its value and what is allowed", () => {
  test.for([
    ["three", /"three" is no flag; flags follow a --/],
    ["--nods 3", /--nods is no flag; there are --nodes/],
    ["--nodes", /--nodes needs a value: --nodes LIST\|N/],
    ["--nodes 0", /--nodes is 0; it can be a whole number from 1/],
    ["--nodes a=4", /--nodes has "a=4"; each entry is NAME=vCPUsxGiB/],
    ["--nodes gateway=4x8", /--nodes has "gateway=4x8"/],
    ["--nodes a.b=4x8", /--nodes has "a.b=4x8"/],
    ["--nodes a=4x8,a=4x8", /--nodes has a twice/],
    ["--nodes 3 --fleet f.yaml", /--nodes and --fleet/],
    ["--port x", /--port is x; it can be a whole number from 0 to/],
    ["--sandboxes 0", /--sandboxes is 0; it can be a whole number from 1/],
    ["--json=yes", /--json takes no value/],
    ["--driver qemu", /--driver qemu is not built yet; --driver memory is/],
    ["--driver xen", /--driver is xen; it can be memory/],
    ["--dynamodb moto", /--dynamodb is moto; it can be dynalite, local or a URL/],
  ] as [string, RegExp][])("%s", ([line, words]) => {
    expect(() => read(line)).toThrow(FlagError);
    expect(() => read(line)).toThrow(words);
  });
});

test.for([
  ["a bad flag", ["--driver", "qemu"], 2, /^nightporter: --driver qemu .*\n$/],
  ["a fleet file that is none", ["--fleet", "package.json"], 2, /^nightporter: --fleet: .*package.json/],
] as [string, string[], number, RegExp][])("%s ends it with a sentence", async ([, flags, code, words]) => {
  const { child, stderr } = spawnStack({ flags });
  const ended = await new Promise((resolve) => child.once("close", resolve));

  expect(stderr()).toMatch(words);
  expect(ended).toBe(code);
});
