// Requests signed by the SDK's own signer, to be changed afterwards where a test wants to.

import { SignatureV4 } from "@smithy/signature-v4";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { Sha256 } from "../../lib/ec2/sha256.ts";
import type { LambdaHandler } from "../../lib/http/handler.ts";
import { type HttpCall, httpEvent, lambdaContext } from "./front-door.ts";
import { KEY, REGION } from "./gateway.ts";

export interface SigningOptions {
  accessKeyId?: string;
  secretAccessKey?: string;
  region?: string;
  service?: string;
  at?: Date;
  /** Signed along with the usual ones. */
  headers?: Record<string, string>;
}

const signer = (options: SigningOptions): SignatureV4 =>
  new SignatureV4({
    credentials: {
      accessKeyId: options.accessKeyId ?? KEY.accessKeyId,
      secretAccessKey: options.secretAccessKey ?? KEY.secretAccessKey,
    },
    region: options.region ?? REGION,
    service: options.service ?? "ec2",
    sha256: Sha256,
  });

const HOST = "gateway.example.net";

export async function signedCall(
  body: string,
  options: SigningOptions = {},
): Promise<HttpCall & { body: string }> {
  const request = await signer(options).sign(
    {
      method: "POST",
      protocol: "https:",
      hostname: HOST,
      path: "/",
      headers: {
        host: HOST,
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "content-length": String(Buffer.byteLength(body)),
        ...options.headers,
      },
      body,
    },
    { signingDate: options.at ?? new Date() },
  );
  return { method: "POST", path: "/", headers: request.headers, body };
}

export async function presignedCall(
  query: Record<string, string>,
  options: SigningOptions & { expiresIn?: number } = {},
): Promise<HttpCall & { query: string }> {
  const request = await signer(options).presign(
    { method: "GET", protocol: "https:", hostname: HOST, path: "/", headers: { host: HOST }, query },
    { signingDate: options.at ?? new Date(), expiresIn: options.expiresIn ?? 60 },
  );
  const pairs = Object.entries(request.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return { method: "GET", path: "/", headers: { host: HOST }, query: pairs.join("&") };
}

export interface Answer {
  status: number;
  code: string | undefined;
  message: string | undefined;
  body: string;
  headers: Record<string, unknown>;
}

export async function send(handler: LambdaHandler, call: HttpCall): Promise<Answer> {
  const result = (await handler(httpEvent(call), lambdaContext())) as APIGatewayProxyStructuredResultV2;
  const body = result.body ?? "";
  return {
    status: result.statusCode ?? 0,
    code: /<Code>(.*?)<\/Code>/s.exec(body)?.[1],
    message: /<Message>(.*?)<\/Message>/s.exec(body)?.[1],
    body,
    headers: result.headers ?? {},
  };
}
