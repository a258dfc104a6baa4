// The table as infra/resources/table.yml describes it, made where the local DynamoDB is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type TimeToLiveSpecification,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import type { Credentials } from "./account.ts";
import { parseCloudFormation } from "./cloud-formation.ts";
import type { Part } from "./part.ts";

/** DynamoDB Local takes up to 8 s to listen on two busy cores. */
const START_MS = 30_000;
/** An endpoint that somebody else runs should be there already. */
const THERE_MS = 5000;
const LOOK_MS = 50;

interface TableProperties extends Omit<CreateTableCommandInput, "TableName"> {
  TimeToLiveSpecification: TimeToLiveSpecification;
  PointInTimeRecoverySpecification?: unknown;
}

export interface TablePlace extends Credentials {
  url: string;
  region: string;
  table: string;
  /** When this dies there is nothing to wait for. */
  part?: Part;
}

/** Creates the table unless it is there, and waits until it can be used. */
export async function ensureTable(place: TablePlace): Promise<void> {
  const {
    TimeToLiveSpecification: ttl,
    PointInTimeRecoverySpecification: _,
    ...definition
  } = readDefinition();
  const client = new DynamoDBClient({
    endpoint: place.url,
    region: place.region,
    credentials: place,
    maxAttempts: 1,
  });
  const TableName = place.table;
  try {
    await untilIt("answered", place, async () => {
      await client
        .send(new CreateTableCommand({ TableName, ...definition }))
        .catch(unless("ResourceInUseException"));
      return true;
    });
    await untilIt("had the table", place, async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName }));
      return Table?.TableStatus === "ACTIVE";
    });
    // dynalite has no TTL; DynamoDB Local refuses one that is set already.
    await client
      .send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: ttl }))
      .catch(unless("UnknownOperationException", "ValidationException"));
  } finally {
    client.destroy();
  }
}

function readDefinition(): TableProperties {
  const file = join(import.meta.dirname, "..", "resources", "table.yml");
  const { Resources } = parseCloudFormation(readFileSync(file, "utf8")) as {
    Resources: { Table: { Properties: TableProperties } };
  };
  return Resources.Table.Properties;
}

const unless =
  (...names: string[]) =>
  (error: Error): void => {
    if (!names.includes(error.name)) throw error;
  };

async function untilIt(what: string, { url, part }: TablePlace, look: () => Promise<boolean>): Promise<void> {
  let last: unknown = "nothing yet";
  for (
    const end = Date.now() + (part ? START_MS : THERE_MS);
    Date.now() < end && (part?.alive ?? true);
    await delay(LOOK_MS)
  ) {
    try {
      if (await look()) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`the DynamoDB at ${url} never ${what}: ${last instanceof Error ? last.message : last}`);
}
