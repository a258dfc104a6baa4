// functions/ec2.ts in this process, put together from the same parts, so that what each launch spends in DynamoDB
// can be told from the rest.

import { randomUUID } from "node:crypto";
import type { APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { ACCOUNT, CREDENTIALS, GATEWAY_USER, REGION, TABLE } from "../infra/local/account.ts";
import { createBus } from "../lib/bus.ts";
import { createEc2Face } from "../lib/ec2/face.ts";
import { createInstances } from "../lib/fleet/instances.ts";
import { createKnownNodes } from "../lib/fleet/known-nodes.ts";
import { parseFleet } from "../lib/fleet-file.ts";
import { createHandler } from "../lib/http/handler.ts";
import { createLauncher } from "../lib/launch/launcher.ts";
import { createTable, type Table } from "../lib/table.ts";
import type { Cluster } from "../test/support/cluster.ts";
import { apiGatewayEvent, signLaunch } from "./signed-request.ts";

/** API Gateway's limit, less what the product's own handler keeps back. */
const FUNCTION_MS = 28_000;

export interface Launched {
  status: number;
  /** EC2's error code, where there was one. */
  code: string | undefined;
  ms: number;
  /** Of `ms`, what the gateway waited for its table's writes. */
  writesMs: number;
  /** From the request to the first write (parsed, authorised), between two writes (the nodes), after the last. */
  betweenMs: number[];
}

export interface Gateway extends AsyncDisposable {
  /** One RunInstances of one t3.micro through the handler. One at a time. */
  launch(): Promise<Launched>;
}

export async function openGateway(cluster: Cluster): Promise<Gateway> {
  process.env.AWS_ACCESS_KEY_ID = CREDENTIALS.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = CREDENTIALS.secretAccessKey;
  const { windows } = cluster;
  const names = [...cluster.daemons.keys()];
  const fleet = parseFleet(
    JSON.stringify({ fleet: "bench", expectedNodes: names.length, nodes: names.map((name) => ({ name })) }),
    "fleet.yaml",
  );
  const { name: user, password } = GATEWAY_USER;
  const bus = createBus({ url: cluster.natsUrl, user, password }, windows, () => {});
  let writes: Span[] = [];
  const table = clocked(
    createTable({ table: TABLE, region: REGION, endpoint: cluster.dynamodbUrl }),
    (span) => writes.push(span),
  );
  const nodes = createKnownNodes(table, fleet);
  const instances = createInstances({ bus, nodes, windows });
  const launch = createLauncher({ bus, table, nodes, windows, describe: instances.describe });
  const face = createEc2Face({ region: REGION, launch, instances }, [{ ...CREDENTIALS, account: ACCOUNT }]);
  // Figures go to stdout, so the handler's log lines must not.
  const handler = createHandler(face, { answerMs: windows.answerMs, log: () => {} });
  const event = apiGatewayEvent(await signLaunch({ host: "gateway.example.net", credentials: CREDENTIALS }));

  return {
    launch: async () => {
      writes = [];
      const from = performance.now();
      const result = (await handler(event, contextOf(FUNCTION_MS))) as APIGatewayProxyStructuredResultV2;
      const to = performance.now();
      const { statusCode: status = 0, body = "" } = result;
      return {
        status,
        code: /<Code>(.*?)<\/Code>/.exec(body)?.[1],
        ms: to - from,
        writesMs: writes.reduce((sum, write) => sum + write.to - write.from, 0),
        betweenMs: [...writes, { from: to }].map((write, at) => write.from - (writes[at - 1]?.to ?? from)),
      };
    },
    [Symbol.asyncDispose]: () => bus.close(),
  };
}

interface Span {
  from: number;
  to: number;
}

/** The table with a clock at its writes. */
function clocked(table: Table, told: (span: Span) => void): Table {
  return {
    ...table,
    update: async (update) => {
      const from = performance.now();
      try {
        return await table.update(update);
      } finally {
        told({ from, to: performance.now() });
      }
    },
  };
}

const contextOf = (timeoutMs: number): Context => {
  const end = Date.now() + timeoutMs;
  return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => end - Date.now() } as Context;
};
