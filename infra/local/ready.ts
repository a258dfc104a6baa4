// What the stack says when it is ready: one line of JSON for a program, or lines to paste for a person.

import { ACCOUNT, API_TOKEN, CREDENTIALS, GATEWAY_USER, IMAGE_ID, REGION, TABLE } from "./account.ts";
import type { Daemon } from "./daemons.ts";
import type { Dynamodb } from "./dynamodb.ts";
import type { Gateway } from "./gateways.ts";
import type { Nats } from "./nats.ts";

export interface Standing {
  gateways: readonly Gateway[];
  daemons: readonly Daemon[];
  nats: Nats;
  dynamodb: Dynamodb;
  data: string;
  logFile: string;
}

export const describeReady = ({ gateways, daemons, nats, dynamodb, data, logFile }: Standing) => ({
  ready: true,
  gateways: gateways.map(({ url, streamUrl, part }) => ({ url, streamUrl, pid: part.pid })),
  nodes: daemons.map(({ name, part }) => ({ name, pid: part.pid })),
  nats: {
    url: nats.url,
    tcpUrl: nats.tcpUrl,
    user: GATEWAY_USER.name,
    password: GATEWAY_USER.password,
    pid: nats.part.pid,
  },
  dynamodb: { url: dynamodb.url, table: TABLE, pid: dynamodb.part?.pid ?? null },
  region: REGION,
  account: ACCOUNT,
  ...CREDENTIALS,
  apiToken: API_TOKEN,
  imageId: IMAGE_ID,
  data,
  log: logFile,
});

export type Ready = ReturnType<typeof describeReady>;

export function banner(ready: Ready, tookMs: number): string {
  const [first] = ready.gateways;
  const url = first!.url;
  const row = (what: string, where: string) => `  ${what.padEnd(10)}${where}`;
  return [
    "",
    `Nightporter is ready after ${(tookMs / 1000).toFixed(1)} s. Ctrl-C ends it and all it started.`,
    "",
    ...ready.gateways.map((gateway) => row("gateway", `${gateway.url}   streaming URL ${gateway.streamUrl}`)),
    row("nodes", nodeNames(ready.nodes.map(({ name }) => name))),
    row(
      "NATS",
      `${ready.nats.url}   ${ready.nats.tcpUrl}   user ${ready.nats.user}, password ${ready.nats.password}`,
    ),
    row("DynamoDB", `${ready.dynamodb.url}   table ${ready.dynamodb.table}`),
    row("log", ready.log),
    "",
    "Paste into another terminal:",
    "",
    `  export AWS_ACCESS_KEY_ID=${ready.accessKeyId} AWS_SECRET_ACCESS_KEY=${ready.secretAccessKey}`,
    `  export AWS_DEFAULT_REGION=${ready.region} AWS_ENDPOINT_URL_EC2=${url}`,
    `  aws ec2 run-instances --image-id ${ready.imageId} --instance-type t3.micro`,
    "",
    "or without the AWS CLI:",
    "",
    `  curl ${url} --aws-sigv4 "aws:amz:${ready.region}:ec2" --user ${ready.accessKeyId}:${ready.secretAccessKey} \\`,
    `    -d 'Action=RunInstances&Version=2016-11-15&ImageId=${ready.imageId}&InstanceType=t3.micro&MinCount=1&MaxCount=1'`,
    "",
  ].join("\n");
}

/** More names than this would bury the lines to paste. */
const NAMES_SHOWN = 8;

function nodeNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
