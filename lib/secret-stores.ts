// The stores a secret may stand in, each with AWS's own client. Loaded when there is a reference to read.
//
// Where the clients find their service is the SDK's affair: AWS_ENDPOINT_URL_SSM and AWS_ENDPOINT_URL_SECRETS_MANAGER
// name a local peer.

import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { StoreName } from "./secret.ts";

/** A store out of reach is known within half of the ten seconds that Lambda gives a cold start. */
const PATIENCE = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
};

/** @returns what reads the text at that place; undefined where there is something else than text */
type Store = (place: string, region: string) => () => Promise<string | undefined>;

export const STORES: Readonly<Record<StoreName, Store>> = {
  ssm: (name, region) => {
    const client = new SSMClient({ region, ...PATIENCE });
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    return async () => (await client.send(command)).Parameter?.Value;
  },

  secretsmanager: (arn, region) => {
    const client = new SecretsManagerClient({ region: arn.split(":")[3] ?? region, ...PATIENCE });
    const command = new GetSecretValueCommand({ SecretId: arn });
    return async () => (await client.send(command)).SecretString;
  },
};
