import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const SETUP = join(import.meta.dirname, "..", "..", "infra", "setup.mjs");

function setUp(env: Record<string, string | undefined> = {}, args: string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SETUP, ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, npm_lifecycle_event: "prestart", ...env },
  });
  return { status, stdout, stderr };
}

test("when all is there it says nothing", () => {
  expect(setUp()).toEqual({ status: 0, stdout: "", stderr: "" });
});

describe("without a nats-server", () => {
  let folder: string;
  let path: string;

  /** A command that notes how it was called, and does what else it is told. */
  function fake(name: string, script: string): void {
    const file = join(path, name);
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> ${folder}/calls\n${script}\n`);
    chmodSync(file, 0o755);
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nightporter-test-"));
    path = join(folder, "bin");
    mkdirSync(path);
    mkdirSync(join(folder, "sbin"));
    fake("sudo", '[ "$1" = -n ] && shift; exec "$@"');
    fake("apt-cache", 'echo "Size: 4100000"');
    fake(
      "apt-get",
      `printf '#!/bin/sh\\n' > ${folder}/sbin/nats-server; /bin/chmod +x ${folder}/sbin/nats-server`,
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const wasInstalled = () => existsSync(join(folder, "sbin", "nats-server"));

  test("it is installed after saying what, how large and how to say no", () => {
    const { status, stdout, stderr } = setUp({ PATH: path });

    expect([status, stdout, wasInstalled()]).toEqual([0, "", true]);
    expect(stderr).toContain(
      "Installing nats-server (4.1 MB) with apt-get. To say no: NIGHTPORTER_NO_INSTALL=1",
    );
  });

  test.for([
    ["by environment", { NIGHTPORTER_NO_INSTALL: "1" }, []],
    ["by flag", {}, ["--no-install"]],
    ["to npm", { npm_config_install: "" }, []],
  ] as [string, Record<string, string>, string[]][])(
    "nothing is installed when told so %s",
    ([, env, args]) => {
      const { status, stdout, stderr } = setUp({ PATH: path, ...env }, args);

      expect([status, stdout, wasInstalled()]).toEqual([1, "", false]);
      expect(stderr).toMatch(
        /^nightporter: nats-server is needed and not on PATH; type: (sudo )?apt-get install .*\n$/,
      );
    },
  );

  test("scripts that do not need it are not held up", () => {
    expect(setUp({ PATH: path, npm_lifecycle_event: "precheck" })).toMatchObject({ status: 0, stderr: "" });
    expect(wasInstalled()).toBe(false);
  });

  test("without a package manager it says where to get it", () => {
    rmSync(join(path, "apt-get"));

    const { status, stderr } = setUp({ PATH: path });
    expect([status, stderr]).toEqual([1, expect.stringContaining("get it from https://github.com/nats-io/")]);
  });

  test("without a package list the list is fetched first", () => {
    fake("apt-cache", "");

    expect(setUp({ PATH: path }).stderr).toContain("Installing nats-server (about 4 MB) with apt-get");
  });
});
