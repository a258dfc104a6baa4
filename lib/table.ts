// The one DynamoDB table: its client, its keys, and the two requests everything else is made of.
//
// 1. The client is loaded when first needed: it is the dearest part of a cold start.
// 2. A conditional write that is refused brings the standing item with it (ALL_OLD). Where an emulator leaves it out,
//    and where there is no item, one consistent read follows.
// 3. The SDK repeats a write whose answer was lost and then sees its own write as a refusal: whoever writes puts a
//    holder into the item and recognises itself.
// 4. DynamoDB down or throttled is a 503, never a licence to go on.

import { createHash } from "node:crypto";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Fault } from "./fault.ts";

export type Item = Record<string, unknown>;

export type Written = { outcome: "written"; item: Item } | { outcome: "refused"; item: Item | undefined };

export interface Update {
  /** The partition key. */
  key: string;
  /** In both expressions `#phase` stands for the attribute `phase`, unless `names` says otherwise. */
  update: string;
  condition?: string;
  names?: Readonly<Record<string, string>>;
  values: Readonly<Record<string, unknown>>;
}

export interface Table {
  /** Loads the client without waiting for it. */
  warm(): void;
  get(key: string): Promise<Item | undefined>;
  update(update: Update): Promise<Written>;
}

export interface TableSettings {
  table: string;
  region: string;
  endpoint?: string | undefined;
}

/** Times that fit a launch's budget several times over; the SDK's own default is to wait for ever. */
const CONNECT_MS = 1000;
const REQUEST_MS = 2000;
const MOST_ATTEMPTS = 3;

const RETRY_AFTER_SECONDS = 1;

const encode = encodeURIComponent;

/** Keys encode their parts: `a#b` with node `c` must not meet `a` with node `b#c`. A token may hold any character. */
export const keys = {
  launch: (account: string, token: string): string =>
    `launch#${encode(account)}#${createHash("sha256").update(token).digest("hex")}`,
  nodes: (fleet: string): string => `node#${encode(fleet)}`,
};

export function createTable(settings: TableSettings): Table {
  let loading: Promise<Loaded> | undefined;
  const loaded = () => {
    loading ??= load(settings);
    return loading;
  };

  const get = async (key: string): Promise<Item | undefined> => {
    const { client, sdk, unmarshall } = await loaded();
    const command = new sdk.GetItemCommand({
      TableName: settings.table,
      Key: { pk: { S: key } },
      ConsistentRead: true,
    });
    const { Item: item } = await orFault(() => client.send(command));
    return item && unmarshall(item);
  };

  const update = async ({ key, update, condition, names: given, values }: Update): Promise<Written> => {
    const { client, sdk, marshall, unmarshall } = await loaded();
    const names = new Set(`${update} ${condition ?? ""}`.match(/#\w+/g) ?? []);
    const command = new sdk.UpdateItemCommand({
      TableName: settings.table,
      Key: { pk: { S: key } },
      UpdateExpression: update,
      ...(condition ? { ConditionExpression: condition } : {}),
      ExpressionAttributeNames: Object.fromEntries(
        [...names].map((name) => [name, given?.[name] ?? name.slice(1)]),
      ),
      ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }),
      ReturnValues: "ALL_NEW",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    try {
      const { Attributes: item } = await orFault(() => client.send(command));
      return { outcome: "written", item: unmarshall(item ?? {}) };
    } catch (error) {
      if (!(error instanceof sdk.ConditionalCheckFailedException)) throw error;
      return { outcome: "refused", item: error.Item ? unmarshall(error.Item) : await get(key) };
    }
  };

  return { warm: () => void loaded().catch(() => {}), get, update };
}

interface Loaded {
  client: DynamoDBClient;
  sdk: typeof import("@aws-sdk/client-dynamodb");
  marshall: typeof import("@aws-sdk/util-dynamodb").marshall;
  unmarshall: typeof import("@aws-sdk/util-dynamodb").unmarshall;
}

async function load({ region, endpoint }: TableSettings): Promise<Loaded> {
  const [sdk, { marshall, unmarshall }] = await Promise.all([
    import("@aws-sdk/client-dynamodb"),
    import("@aws-sdk/util-dynamodb"),
  ]);
  const client = new sdk.DynamoDBClient({
    region,
    ...(endpoint ? { endpoint } : {}),
    maxAttempts: MOST_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
  });
  return { client, sdk, marshall, unmarshall };
}

async function orFault<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if ((error as Error).name === "ConditionalCheckFailedException") throw error;
    throw new Fault("ServiceUnavailable", `The gateway's table did not answer: ${(error as Error).name}`, {
      cause: error,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
