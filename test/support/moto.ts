// moto_server: an independent implementation of EC2's API, which people run where they want the API without EC2.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort, HOST } from "../../infra/local/ports.ts";
import { eventually } from "./eventually.ts";

const START_MS = 60_000;

export interface Moto extends AsyncDisposable {
  url: string;
}

/** @returns why there is none, where there is none */
export async function startMoto(): Promise<Moto | string> {
  const port = await freePort();
  const child = spawn("moto_server", ["-H", HOST, "-p", String(port)], { stdio: "ignore" });
  const url = `http://${HOST}:${port}`;
  let over = false;
  const gone = Promise.race([once(child, "exit"), once(child, "error")]).then(() => {
    over = true;
  });
  await eventually(
    "moto_server answers or ends",
    async () => over || (await fetch(`${url}/moto-api/`)).ok,
    START_MS,
  );
  if (over) return "moto_server is not there; `pip install 'moto[ec2,server]'` installs it";
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
