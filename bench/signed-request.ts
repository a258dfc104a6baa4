// RunInstances as a client sends it: signed by the SDK's own signer, as raw HTTP and as API Gateway's event.
//
// One signature serves a whole round: it holds for 15 minutes, and without a ClientToken each request is a launch of
// its own.

import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { type Credentials, IMAGE_ID, REGION } from "../infra/local/account.ts";
import { httpApiDomain, lambdaEvent } from "../infra/local/lambda-event.ts";
import { mintTraceId } from "../infra/local/pool.ts";

export interface LaunchOptions {
  /** As in the Host header. */
  host: string;
  credentials: Credentials;
  imageId?: string;
  type?: string;
}

export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/** The signer's idea of a hash, over `node:crypto`. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | Uint8Array | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }
  update(data: string | Uint8Array | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

function bytesOf(data: string | Uint8Array | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

export async function signLaunch({ host, credentials, ...asked }: LaunchOptions): Promise<SignedRequest> {
  const body = new URLSearchParams({
    Action: "RunInstances",
    Version: "2016-11-15",
    ImageId: asked.imageId ?? IMAGE_ID,
    InstanceType: asked.type ?? "t3.micro",
    MinCount: "1",
    MaxCount: "1",
  }).toString();
  const signer = new SignatureV4({ credentials, region: REGION, service: "ec2", sha256: Sha256 });
  const { headers } = await signer.sign({
    method: "POST",
    protocol: "http:",
    hostname: host,
    path: "/",
    headers: {
      host,
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
    },
    body,
  });
  return { headers, body };
}

export const rawHttp = ({ headers, body }: SignedRequest): Buffer =>
  Buffer.from(
    `POST / HTTP/1.1\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n${body}`,
  );

const API_ID = "bench";

/** The event that the local API Gateway makes of the request, which is payload format 2.0 with its base64 body. */
export const apiGatewayEvent = ({ headers, body }: SignedRequest): unknown =>
  lambdaEvent(
    {
      method: "POST",
      url: "/",
      rawHeaders: Object.entries(headers).flat(),
      body: Buffer.from(body),
      sourceIp: "127.0.0.1",
      port: 80,
      traceId: mintTraceId(),
    },
    { apiId: API_ID, domainName: httpApiDomain(API_ID), routeKey: "POST /", rawPath: "/" },
  );
