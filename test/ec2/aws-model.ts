// The child that holds AWS's own model and client (aws-model.py).

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("./aws-model.py", import.meta.url));

export interface AwsModel extends Disposable {
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is whatever the test asked for
  ask(question: Record<string, unknown>): Promise<any>;
}

export function openAwsModel(): AwsModel {
  const child = spawn("python3", [SCRIPT], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error("the AWS model has ended");
      return JSON.parse(value);
    },
    [Symbol.dispose]: () => {
      child.stdin.end();
    },
  };
}
