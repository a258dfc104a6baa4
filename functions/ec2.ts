// The EC2 Query API, and the same actions as console test events.

import { createBus } from "../lib/bus.ts";
import { readAccessKeys, readGatewayConfig } from "../lib/config.ts";
import { createEc2Face } from "../lib/ec2/face.ts";
import { createInstances } from "../lib/fleet/instances.ts";
import { createKnownNodes } from "../lib/fleet/known-nodes.ts";
import { createHandler } from "../lib/http/handler.ts";
import { createLauncher } from "../lib/launch/launcher.ts";
import { opened } from "../lib/secret.ts";
import { createTable } from "../lib/table.ts";

const config = readGatewayConfig(process.env);
const { region, windows } = config;
const accessKeys = readAccessKeys(process.env, config);
const logError = (event: string, message: string) => console.error(JSON.stringify({ event, message }));

const bus = createBus(config.nats, windows, logError);
const table = createTable({ table: config.table, region, endpoint: config.dynamodbEndpoint });
// Both connect while Lambda still gives the init phase its full CPU.
bus.warm();
table.warm();

const nodes = createKnownNodes(table, config.fleet);
const instances = createInstances({ bus, nodes, windows });
const launch = createLauncher({ bus, table, nodes, windows, describe: instances.describe });

const face = createEc2Face({ region, launch, instances }, accessKeys);

await Promise.all([opened(config.nats), opened(accessKeys)]);

export const handler = createHandler(face, { answerMs: windows.answerMs });
