// A password for NATS that stands in a store, and was changed there and on the server while the gateway was connected.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../../infra/local/ports.ts";
import { type Bus, createBus } from "../../lib/bus.ts";
import { readGatewayConfig } from "../../lib/config.ts";
import { readWindows } from "../../lib/windows.ts";
import { eventually } from "../support/eventually.ts";
import { MISSING, Moto, type Shelf } from "./moto.ts";

const dir = mkdtempSync(join(tmpdir(), "nightporter-secret-"));
const file = join(dir, "nats.conf");

describe.skipIf(MISSING)(MISSING ?? "a password for NATS in a store", () => {
  let moto: Moto;
  let server: ChildProcess;
  let port: number;
  let said = "";
  const buses: Bus[] = [];

  const configure = (password: string) =>
    writeFileSync(
      file,
      `host: "127.0.0.1"\nport: -1\nwebsocket { host: "127.0.0.1", port: ${port}, no_tls: true }\n` +
        `authorization { users: [{ user: "gateway", password: "${password}" }] }\n`,
    );

  const changePassword = async (password: string) => {
    said = "";
    configure(password);
    server.kill("SIGHUP");
    await eventually("the server has read it", () => said.includes("Reloaded server configuration"));
  };

  const busBy = ({ reference }: Shelf): { bus: Bus; lines: string[] } => {
    const { nats, windows } = readGatewayConfig({
      NIGHTPORTER_FLEET_FILE: "fleet.yaml",
      NIGHTPORTER_TABLE: "t",
      NIGHTPORTER_REGION: "us-east-1",
      NIGHTPORTER_NATS_URL: `ws://127.0.0.1:${port}`,
      NIGHTPORTER_NATS_USER: "gateway",
      NIGHTPORTER_NATS_PASSWORD: reference,
    });
    const lines: string[] = [];
    const bus = createBus(nats, windows, (_event, message) => lines.push(message));
    buses.push(bus);
    return { bus, lines };
  };

  beforeAll(async () => {
    port = await freePort();
    configure("first");
    server = spawn("nats-server", ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
    server.stderr!.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    moto = await Moto.start();
    for (const [name, value] of Object.entries(moto.environment)) vi.stubEnv(name, value);
    await eventually("the server is ready", () => said.includes("Server is ready"));
  });

  afterAll(async () => {
    for (const bus of buses) await bus.close();
    vi.unstubAllEnvs();
    server?.kill("SIGKILL");
    await moto?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  test("is read again when the server refuses it", async () => {
    const shelf = await moto.secret("first");
    const { bus, lines } = busBy(shelf);
    await bus.exchange();
    const before = moto.readings;

    await shelf.put("second");
    await changePassword("second");

    await bus.exchange();
    expect(moto.readings - before).toBe(1);
    expect(lines).toEqual([]);
  });

  test("is not read at every try when it is wrong there too", async () => {
    await changePassword("third");
    const [before, start] = [moto.readings, performance.now()];
    const { bus, lines } = busBy(await moto.parameter("stale"));

    for (let n = 0; n < 3; n++) {
      await expect(bus.exchange()).rejects.toMatchObject({
        code: "ServiceUnavailable",
        message: expect.stringContaining("password is wrong"),
      });
    }

    const intervals = 1 + Math.floor((performance.now() - start) / readWindows(undefined).secretAgainMs);
    expect(moto.readings - before).toBeLessThanOrEqual(1 + intervals);
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toContain("stale");
  });

  test("out of reach is a fault that names the variable", async () => {
    const { bus, lines } = busBy(await moto.parameter("third"));
    moto.outOfReach(true);
    try {
      const named = expect.stringContaining("NIGHTPORTER_NATS_PASSWORD");
      await expect(bus.exchange()).rejects.toMatchObject({ code: "ServiceUnavailable", message: named });
      expect(lines).toEqual([named]);
    } finally {
      moto.outOfReach(false);
    }
    await bus.exchange();
  });
});
