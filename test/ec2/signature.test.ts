import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { HttpCall } from "./front-door.ts";
import { gatewayOver, KEY, record } from "./gateway.ts";
import { presignedCall, type SigningOptions, send, signedCall } from "./signed-call.ts";

const BODY = "Action=DescribeRegions&Version=2016-11-15";
const QUERY = {
  Action: "DescribeInstances",
  Version: "2016-11-15",
  "Filter.1.Name": "tag:a b",
  "Filter.1.Value.1": "é*~",
};
const MINUTE_MS = 60_000;

const { handler } = gatewayOver([record()]);
const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE_MS);

test.each<[string, SigningOptions]>([
  ["signed now", {}],
  ["signed 14 minutes ago", { at: minutesAgo(14) }],
  ["signed 14 minutes ahead", { at: minutesAgo(-14) }],
  ["with another signed x-amz header", { headers: { "x-amz-user-agent": "a   tool/1" } }],
])("a request %s is answered", async (_, options) => {
  expect(await send(handler, await signedCall(BODY, options))).toMatchObject({ status: 200 });
});

test("the body is read as it came: plus is a space there, and was signed as a plus", async () => {
  const call = await signedCall("Action=DescribeInstances&Filter.1.Name=tag%3Aa+b&Filter.1.Value.1=%2A");
  expect(await send(handler, call)).toMatchObject({ status: 200 });
});

test("content-length is rebuilt where Lambda's event has lost it", async () => {
  const call = await signedCall(BODY);
  delete call.headers["content-length"];
  expect(await send(handler, call)).toMatchObject({ status: 200 });
});

test("a presigned GET is answered", async () => {
  expect(await send(handler, await presignedCall(QUERY))).toMatchObject({ status: 200 });
});

test("a presigned GET signed an hour ago for two hours is answered", async () => {
  const call = await presignedCall(QUERY, { at: minutesAgo(60), expiresIn: 7200 });
  expect(await send(handler, call)).toMatchObject({ status: 200 });
});

test.each<[string, SigningOptions, string, number]>([
  ["by an unknown key", { accessKeyId: "AKIDNOBODY" }, "AuthFailure", 401],
  ["with a wrong secret", { secretAccessKey: "wrong" }, "AuthFailure", 401],
  ["for another service", { service: "s3" }, "AuthFailure", 401],
  ["16 minutes ago", { at: minutesAgo(16) }, "RequestExpired", 400],
  ["16 minutes ahead", { at: minutesAgo(-16) }, "RequestExpired", 400],
  ["with a session token", { headers: { "x-amz-security-token": "t" } }, "AuthFailure", 401],
  [
    "over an unsigned payload",
    { headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" } },
    "AuthFailure",
    401,
  ],
])("a request signed %s is refused", async (_, options, code, status) => {
  expect(await send(handler, await signedCall(BODY, options))).toMatchObject({ code, status });
});

test("a request signed for another region is told the region expected", async () => {
  const answer = await send(handler, await signedCall(BODY, { region: "eu-west-1" }));
  expect(answer).toMatchObject({ code: "AuthFailure", status: 401 });
  expect(answer.message).toContain("'us-east-1'");
});

type Signed = Awaited<ReturnType<typeof signedCall>>;
type Change = (call: Signed) => Partial<Signed>;
const header =
  (name: string, value: string): Change =>
  ({ headers }) => ({ headers: { ...headers, [name]: value } });
const without =
  (name: string): Change =>
  ({ headers: { [name]: _, ...headers } }) => ({ headers });
const authorization =
  (from: string | RegExp, to: string): Change =>
  ({ headers }) => ({
    headers: { ...headers, authorization: headers.authorization!.replace(from, to) },
  });

test.each<[string, Change, string, number]>([
  ["has another body", ({ body }) => ({ body: `${body}&DryRun=true` }), "AuthFailure", 401],
  ["has another method", () => ({ method: "GET" }), "AuthFailure", 401],
  ["has a query", () => ({ query: "DryRun=true" }), "AuthFailure", 401],
  ["has another host", header("host", "elsewhere.example.net"), "AuthFailure", 401],
  ["has an x-amz header more", header("x-amz-meta", "1"), "AuthFailure", 401],
  ["lacks a signed header", without("content-type"), "AuthFailure", 401],
  ["has no signature", without("authorization"), "MissingAuthenticationToken", 403],
  ["lacks its date", without("x-amz-date"), "IncompleteSignature", 400],
  ["has a malformed date", header("x-amz-date", "today"), "IncompleteSignature", 400],
  ["has no Signature", authorization(/, Signature=.*/, ""), "IncompleteSignature", 400],
  ["has two Signatures", authorization(/$/, ", Signature=a"), "IncompleteSignature", 400],
  ["has a short credential", authorization("/aws4_request", ""), "IncompleteSignature", 400],
  ["has another algorithm", authorization("AWS4-HMAC-SHA256", "Bearer"), "IncompleteSignature", 400],
  [
    "has a signature of two digits",
    authorization(/Signature=.*/, "Signature=ab"),
    "IncompleteSignature",
    400,
  ],
  ["does not sign its host", authorization("host;", ""), "AuthFailure", 401],
  ["has another day in its scope", authorization(/\/\d{8}\//, "/20200101/"), "AuthFailure", 401],
  ["has another terminator", authorization("aws4_request", "aws5_request"), "AuthFailure", 401],
])("a request that %s after it was signed is refused", async (_, change, code, status) => {
  const call = await signedCall(BODY);
  expect(await send(handler, { ...call, ...change(call) })).toMatchObject({ code, status });
});

test.each<[string, (query: string) => string, string, number]>([
  ["another parameter", (query) => `${query}&DryRun=true`, "AuthFailure", 401],
  ["no X-Amz-Expires", (query) => query.replace(/&X-Amz-Expires=\d+/, ""), "IncompleteSignature", 400],
  ["a longer life", (query) => query.replace("X-Amz-Expires=60", "X-Amz-Expires=600"), "AuthFailure", 401],
  [
    "too long a life",
    (query) => query.replace("X-Amz-Expires=60", "X-Amz-Expires=604801"),
    "IncompleteSignature",
    400,
  ],
  ["a session token", (query) => `${query}&X-Amz-Security-Token=t`, "AuthFailure", 401],
])("a presigned GET with %s is refused", async (_, change, code, status) => {
  const call = await presignedCall(QUERY);
  call.query = change(call.query);
  expect(await send(handler, call)).toMatchObject({ code, status });
});

test("a presigned GET is refused after its life", async () => {
  const call = await presignedCall(QUERY, { at: minutesAgo(2) });
  expect(await send(handler, call)).toMatchObject({ code: "RequestExpired", status: 400 });
});

test("a request signed in both ways is refused", async () => {
  const call = await presignedCall(QUERY);
  call.headers.authorization = (await signedCall(BODY)).headers.authorization!;
  expect(await send(handler, call)).toMatchObject({ code: "IncompleteSignature", status: 400 });
});

test("a request signed over Date alone is answered", async () => {
  const now = new Date();
  const call = signedByHand({ date: now.toUTCString(), host: "gateway.example.net" }, stampOf(now));
  expect(await send(handler, call)).toMatchObject({ status: 200 });
});

// Correct signatures over requests that must not be signed so.
test.each<[string, () => HttpCall, string]>([
  [
    "does not sign its host",
    () => signedByHand({ "x-amz-date": stampOf(new Date()) }, stampOf(new Date())),
    "'Host' must be a 'SignedHeader'",
  ],
  [
    "is signed with the key of another day",
    () => {
      const stamp = stampOf(new Date());
      return signedByHand({ host: "h", "x-amz-date": stamp }, stamp, { day: "20200101" });
    },
    "Date in Credential scope",
  ],
  [
    "signs another body's hash",
    () => {
      const stamp = stampOf(new Date());
      const hash = sha256("another");
      return signedByHand({ host: "h", "x-amz-content-sha256": hash, "x-amz-date": stamp }, stamp, { hash });
    },
    "'x-amz-content-sha256' header does not match",
  ],
])("a request that %s is refused", async (_, call, words) => {
  const answer = await send(handler, call());
  expect(answer).toMatchObject({ code: "AuthFailure", status: 401 });
  expect(answer.message).toContain(words);
});

const stampOf = (date: Date): string => date.toISOString().replace(/[-:]|\.\d+/g, "");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** From the specification, for what the SDK's signer will not do: it always writes X-Amz-Date and signs the host. */
function signedByHand(
  headers: Record<string, string>,
  stamp: string,
  { day = stamp.slice(0, 8), hash = sha256(BODY) } = {},
): HttpCall {
  const scope = `${day}/us-east-1/ec2/aws4_request`;
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = `POST\n/\n\n${lines}\n${names.join(";")}\n${hash}`;
  let key: string | Buffer = `AWS4${KEY.secretAccessKey}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const signature = createHmac("sha256", key)
    .update(`AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256(canonical)}`)
    .digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/${scope},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return { method: "POST", path: "/", headers: { host: "h", ...headers, authorization }, body: BODY };
}
