// Parameter Store and Secrets Manager as moto plays them, behind a proxy that counts readings and can be out of reach.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { CREDENTIALS, REGION } from "../../infra/local/account.ts";
import { DynamodbProxy } from "../support/dynamodb-proxy.ts";
import { eventually } from "../support/eventually.ts";

/** The reason not to run, as the name of the suites. */
export const MISSING =
  spawnSync("python3", ["-c", "import moto.server"], { stdio: "ignore" }).status === 0
    ? undefined
    : "skipped: there is no moto here (pip install 'moto[server]')";

const START_MS = 60_000;

/** A place for one secret. */
export interface Shelf {
  /** As a variable holds it. */
  reference: string;
  put(text: string): Promise<void>;
}

export class Moto implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #proxy: DynamodbProxy;
  readonly #ssm: SSMClient;
  readonly #secrets: SecretsManagerClient;
  #shelves = 0;

  private constructor(process: ChildProcess, url: string, proxy: DynamodbProxy) {
    this.#process = process;
    this.#proxy = proxy;
    // Not by the proxy: it counts what the product does.
    const own = { endpoint: url, region: REGION, credentials: CREDENTIALS };
    this.#ssm = new SSMClient(own);
    this.#secrets = new SecretsManagerClient(own);
  }

  static async start(): Promise<Moto> {
    const server = spawn("python3", ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const url = await eventually<string | undefined>(
      "moto listens",
      () => {
        if (server.exitCode !== null) throw new Error(said);
        return /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      },
      START_MS,
    );
    return new Moto(server, url!, await DynamodbProxy.start(url!));
  }

  /** What tells the SDK's clients where to go, and as whom. */
  get environment(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL_SSM: this.#proxy.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: this.#proxy.url,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    };
  }

  /** Requests of the product so far. */
  get readings(): number {
    return this.#proxy.count;
  }

  outOfReach(away: boolean): void {
    this.#proxy.refuse(away);
  }

  async parameter(text: string): Promise<Shelf> {
    const Name = `/nightporter/test/secret-${++this.#shelves}`;
    const put = async (Value: string) => {
      await this.#ssm.send(new PutParameterCommand({ Name, Value, Type: "SecureString", Overwrite: true }));
    };
    await put(text);
    return { reference: `ssm:${Name}`, put };
  }

  async secret(text: string): Promise<Shelf> {
    const Name = `nightporter/test/secret-${++this.#shelves}`;
    const { ARN } = await this.#secrets.send(new CreateSecretCommand({ Name, SecretString: text }));
    const put = async (SecretString: string) => {
      await this.#secrets.send(new PutSecretValueCommand({ SecretId: ARN, SecretString }));
    };
    return { reference: `secretsmanager:${ARN}`, put };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ssm.destroy();
    this.#secrets.destroy();
    await this.#proxy[Symbol.asyncDispose]();
    const gone = once(this.#process, "exit");
    this.#process.kill();
    await gone;
  }
}
