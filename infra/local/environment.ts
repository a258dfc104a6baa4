// What each function finds in its environment: the names are serverless.yml's, the values are local.

import { ACCOUNT, API_TOKEN, CREDENTIALS, GATEWAY_USER, REGION, TABLE } from "./account.ts";
import type { LambdaFunction } from "./functions.ts";

export interface Places {
  fleetFile: string;
  natsUrl: string;
  dynamodbUrl: string;
}

type Values = Readonly<Record<string, string>>;

const valuesByName = ({ fleetFile, natsUrl }: Places): Values => ({
  NIGHTPORTER_TABLE: TABLE,
  NIGHTPORTER_FLEET_FILE: fleetFile,
  NIGHTPORTER_REGION: REGION,
  NIGHTPORTER_STAGE: "local",
  NIGHTPORTER_NATS_URL: natsUrl,
  NIGHTPORTER_NATS_USER: GATEWAY_USER.name,
  NIGHTPORTER_NATS_PASSWORD: GATEWAY_USER.password,
  NIGHTPORTER_ACCESS_KEYS: JSON.stringify([{ ...CREDENTIALS, account: ACCOUNT }]),
  NIGHTPORTER_API_TOKENS: JSON.stringify([
    { name: "local", token: API_TOKEN, scopes: ["read", "complete", "wake", "admin"] },
  ]),
});

/**
 * @throws Error naming a variable that serverless.yml lists and the local stack has no value for
 */
export function environmentOf(fn: LambdaFunction, places: Places): Record<string, string> {
  const values = valuesByName(places);
  const given: Record<string, string> = {
    NIGHTPORTER_DYNAMODB_ENDPOINT: places.dynamodbUrl,
    // Not on AWS, where reading the maps takes a tenth of a cold start; here a person reads the stack traces.
    NODE_OPTIONS: "--enable-source-maps",
  };
  for (const name of fn.environment) {
    const value = values[name];
    if (value === undefined) {
      throw new Error(
        `serverless.yml gives ${fn.name} ${name}, for which infra/local/environment.ts has no value`,
      );
    }
    given[name] = value;
  }
  return { ...given, ...windows(process.env) };
}

/** Tests run at a tenth of the usual times; gateways and daemons must agree on them. */
export const windows = (env: NodeJS.ProcessEnv): Record<string, string> =>
  env.NIGHTPORTER_WINDOWS ? { NIGHTPORTER_WINDOWS: env.NIGHTPORTER_WINDOWS } : {};
