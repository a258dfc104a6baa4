// An action's output -> EC2's XML, by schema.
//
// As the API answers: root `<Action>Response` in a namespace that ends in a slash, `requestId` first, lists as
// `<xSet><item>…</item></xSet>`. A list that is present but empty is an empty element: where it is left out,
// botocore leaves the key out too and user code fails on it. What cannot be filled is left out: an empty
// timestamp or number throws inside the SDKs.

import type { Fault } from "../fault.ts";
import type { HttpResponse } from "../http/message.ts";
import { isScalar, type Ref, SCHEMA, type Scalar } from "./schema.ts";
import { DECLARATION, element, escapeText } from "./xml.ts";

const OK = 200;

const NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/";

/** @param output in the SDK's shape of the action's result */
export function render(action: string, output: unknown, requestId: string): HttpResponse {
  const shape = SCHEMA.actions[action]?.output;
  const content = shape ? renderStructure(shape, output as Fields) : element("return", "true");
  const root = `${action}Response`;
  return respond(
    OK,
    requestId,
    `<${root} xmlns="${NAMESPACE}">${requestIdElement(requestId)}${content}</${root}>`,
  );
}

/** EC2's own envelope; the Go SDK reads no other. Its `RequestID` is spelt with a capital D. */
export function renderFault(fault: Fault, requestId: string): HttpResponse {
  const error = element("Code", fault.ec2Code) + element("Message", escapeText(fault.message));
  const body = `<Response><Errors><Error>${error}</Error></Errors>${element("RequestID", escapeText(requestId))}</Response>`;
  const response = respond(fault.status, requestId, body);
  if (fault.retryAfterSeconds !== undefined) {
    response.headers["retry-after"] = String(Math.ceil(fault.retryAfterSeconds));
  }
  return response;
}

const requestIdElement = (requestId: string): string => element("requestId", escapeText(requestId));

const respond = (status: number, requestId: string, content: string): HttpResponse => ({
  status,
  headers: {
    "content-type": "text/xml;charset=UTF-8",
    // A presigned GET is an ordinary URL, which caches would like to keep.
    "cache-control": "no-cache, no-store",
    "x-amzn-requestid": requestId,
    "x-request-id": requestId,
  },
  body: DECLARATION + content,
});

type Fields = Readonly<Record<string, unknown>>;

function renderStructure(shape: string, fields: Fields): string {
  let content = "";
  for (const [member, ref, wireName = member] of SCHEMA.outputs[shape] ?? []) {
    const value = fields[member];
    if (value !== undefined && value !== null) content += renderValue(wireName, ref, value);
  }
  return content;
}

function renderValue(name: string, ref: Ref, value: unknown): string {
  if (isScalar(ref)) return element(name, renderScalar(ref, value));
  if (typeof ref === "string") return element(name, renderStructure(ref, value as Fields));
  const [item, itemName = "item"] = ref;
  let content = "";
  for (const one of value as readonly unknown[]) content += renderValue(itemName, item, one);
  return element(name, content);
}

function renderScalar(ref: Scalar, value: unknown): string {
  switch (ref) {
    case "string":
      return escapeText(String(value));
    case "number":
    case "boolean":
      return String(value);
    case "timestamp":
      return (value as Date).toISOString();
    case "blob":
      return Buffer.from(value as Uint8Array).toString("base64");
    default:
      return ref satisfies never;
  }
}
