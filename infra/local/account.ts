// What stands for AWS's account here. Nothing in it is secret: the stack listens on the loopback address only.

import { GATEWAY_NAME } from "../../lib/wire.ts";
import type { User } from "../nats-users.ts";

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export const REGION = "us-east-1";
export const ACCOUNT = "000000000001";
export const TABLE = "nightporter";
export const IMAGE_ID = "ami-0000000000000000a";
export const API_TOKEN = "nightporter-local-token";

export const CREDENTIALS: Credentials = {
  accessKeyId: "NIGHTPORTERLOCAL",
  secretAccessKey: "nightporter-local-secret",
};

export const GATEWAY_USER: User = { name: GATEWAY_NAME, password: "local" };

/** Each node its own password, so that a daemon cannot pass for another by mistake. */
export const nodeUser = (name: string): User => ({ name, password: `local-${name}` });
