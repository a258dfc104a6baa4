// moto_server: the peer that people run today where they want EC2's API without EC2.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort, HOST } from "../infra/local/ports.ts";
import { eventually } from "../test/support/eventually.ts";

const START_MS = 60_000;
const MISSING = "moto_server is not on PATH (pip install 'moto[ec2,server]')";

export interface Moto extends AsyncDisposable {
  url: string;
  /** An image that moto knows. */
  imageId: string;
  /** Forgets all instances. */
  reset(): Promise<void>;
}

/** @returns why there is none, where there is none */
export async function startMoto(): Promise<Moto | string> {
  const port = await freePort();
  const child = spawn("moto_server", ["-H", HOST, "-p", String(port)], { stdio: "ignore" });
  const gone = Promise.race([once(child, "exit"), once(child, "error")]);
  if (!child.pid) return MISSING;
  const url = `http://${HOST}:${port}`;
  const stop = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await eventually("moto_server answers", async () => (await fetch(`${url}/moto-api/`)).ok, START_MS);
    return {
      url,
      imageId: await firstImage(url),
      reset: async () => void (await fetch(`${url}/moto-api/reset`, { method: "POST" })),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    return `moto_server does not serve: ${(error as Error).message}`;
  }
}

async function firstImage(url: string): Promise<string> {
  const body = new URLSearchParams({ Action: "DescribeImages", Version: "2016-11-15", "Owner.1": "amazon" });
  const authorization = "AWS4-HMAC-SHA256 Credential=moto/20260101/us-east-1/ec2/aws4_request";
  const answer = await fetch(url, { method: "POST", body, headers: { authorization } });
  const imageId = /<imageId>(ami-[0-9a-f]+)<\/imageId>/.exec(await answer.text())?.[1];
  if (!imageId) throw new Error("it lists no image");
  return imageId;
}
