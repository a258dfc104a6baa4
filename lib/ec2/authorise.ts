// Who asks? AWS Signature Version 4, verified by signing again and comparing.
//
// 1. Everything that the signature says (key, day, region, service, headers) is compared with what is here, then
//    the signature itself, over the raw bytes: decoding and encoding the body again would break it.
// 2. An unknown key, a wrong secret and a changed request look the same from outside: AuthFailure, 401.
// 3. `host` and every x-amz-* header must be signed, so that nobody on the way can add one.
// 4. Skew is RequestExpired, 400: on that code SDKs correct their clock.
// 5. What fails by the keys at hand is tried once more by newer ones, where their store has some.
//
// The arithmetic is @smithy/signature-v4's. Its `sign()` is not used: it always writes X-Amz-Date, which a client
// that signs over `Date` did not sign.

import { timingSafeEqual } from "node:crypto";
import { createScope, getCanonicalHeaders, getCanonicalQuery, getSigningKey } from "@smithy/signature-v4";
import type { AccessKey } from "../config.ts";
import { Fault } from "../fault.ts";
import type { HttpRequest } from "../http/message.ts";
import { current, type Kept, renewed } from "../secret.ts";
import { type Claim, readClaim } from "./claim.ts";
import type { Principal } from "./deps.ts";
import type { Parameters } from "./parameters.ts";
import { Sha256, sha256Hex } from "./sha256.ts";

export interface Authority {
  keys: Kept<readonly AccessKey[]>;
  /** What requests must be signed for. */
  region: string;
  service: string;
}

/** EC2's documentation: a request that arrives more than 15 minutes from its stamp is expired. */
const MAX_SKEW_MS = 15 * 60_000;

/** CloudFront adds this one on the way in; no client can have signed it. */
const ADDED_ON_THE_WAY = new Set(["x-amz-cf-id"]);

/** Compared with when the key is not known, so that it takes as long as a wrong secret. */
const NOBODY: AccessKey = { accessKeyId: "", secretAccessKey: "nobody", account: "" };

const refused = (detail?: string): Fault =>
  new Fault(
    "AuthFailure",
    `AWS was not able to validate the provided access credentials${detail ? `: ${detail}` : ""}`,
  );

/**
 * @param query the parameters of the query string alone
 * @param now epoch ms
 * @throws Fault MissingAuthenticationToken, IncompleteSignature, RequestExpired, AuthFailure; ServiceUnavailable when
 *   the keys cannot be read
 */
export async function authorise(
  request: HttpRequest,
  query: Parameters,
  authority: Authority,
  now: number,
): Promise<Principal> {
  const claim = readClaim(request, query);
  checkScope(claim, authority);
  checkTime(claim, now);
  checkHeaders(claim, request);
  // There are no session credentials here that a token could belong to.
  if (claim.sessionToken !== undefined) throw refused();
  const bodyHash = hashBody(request);
  const signerAmong = async (keys: readonly AccessKey[]): Promise<AccessKey | undefined> => {
    const known = keys.find(({ accessKeyId }) => accessKeyId === claim.accessKeyId);
    const expected = await signatureOf(request, query, claim, known ?? NOBODY, bodyHash);
    return timingSafeEqual(Buffer.from(expected), Buffer.from(claim.signature)) ? known : undefined;
  };
  const held = await current(authority.keys);
  let signer = await signerAmong(held);
  if (!signer) {
    const newer = await renewed(authority.keys);
    if (newer !== held) signer = await signerAmong(newer);
  }
  if (!signer) throw refused();
  return { account: signer.account, accessKeyId: signer.accessKeyId };
}

function checkScope(claim: Claim, { region, service }: Authority): void {
  if (claim.terminator !== "aws4_request") {
    throw refused(
      `Credential should be scoped with a valid terminator: 'aws4_request', not '${claim.terminator}'.`,
    );
  }
  if (claim.service !== service) {
    throw refused(`Credential should be scoped to correct service: '${service}', not '${claim.service}'.`);
  }
  if (claim.region !== region) {
    throw refused(`Credential should be scoped to the region '${region}', not '${claim.region}'.`);
  }
  if (claim.day !== claim.stamp.slice(0, "yyyymmdd".length)) {
    throw refused(
      `Date in Credential scope does not match the day of signing: '${claim.day}' != '${claim.stamp}'.`,
    );
  }
}

function checkTime({ stamp, expiresSeconds }: Claim, now: number): void {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp)!;
  const [year, month, day, hour, minute, second] = parts.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const signedAt = Date.UTC(year, month - 1, day, hour, minute, second);
  const lifeMs = expiresSeconds === undefined ? MAX_SKEW_MS : expiresSeconds * 1000;
  if (now - signedAt <= lifeMs && signedAt - now <= MAX_SKEW_MS) return;
  throw new Fault(
    "RequestExpired",
    `Request has expired. It was signed at ${new Date(signedAt).toISOString()}; it is ${new Date(now).toISOString()} here.`,
  );
}

function checkHeaders({ signedHeaders }: Claim, { headers }: HttpRequest): void {
  const signed = new Set(signedHeaders);
  if (!signed.has("host")) throw refused("'Host' must be a 'SignedHeader' in the AWS Authorization.");
  for (const name of Object.keys(headers)) {
    if (name.startsWith("x-amz-") && !signed.has(name) && !ADDED_ON_THE_WAY.has(name)) {
      throw refused(`There were headers present in the request which were not signed: ${name}`);
    }
  }
}

/** botocore sends no x-amz-content-sha256, the JavaScript SDK does; where it is sent it must be true. */
function hashBody({ headers, body }: HttpRequest): string {
  const hash = sha256Hex(body);
  const said = headers["x-amz-content-sha256"];
  if (said !== undefined && said !== hash) {
    throw refused("The provided 'x-amz-content-sha256' header does not match what was computed.");
  }
  return hash;
}

async function signatureOf(
  request: HttpRequest,
  query: Parameters,
  claim: Claim,
  key: AccessKey,
  bodyHash: string,
): Promise<string> {
  const { stamp, day, region, service } = claim;
  const canonical = canonicalRequest(request, query, claim.signedHeaders, bodyHash);
  const text = `AWS4-HMAC-SHA256\n${stamp}\n${createScope(day, region, service)}\n${sha256Hex(canonical)}`;
  const hmac = new Sha256(await getSigningKey(Sha256, key, day, region, service));
  hmac.update(Buffer.from(text));
  return Buffer.from(await hmac.digest()).toString("hex");
}

function canonicalRequest(
  request: HttpRequest,
  query: Parameters,
  signedHeaders: readonly string[],
  bodyHash: string,
): string {
  const headers: Record<string, string> = {};
  for (const name of signedHeaders) {
    const value = request.headers[name] ?? rebuilt(name, request);
    if (value === undefined) throw refused(`The header '${name}' is signed but not there.`);
    headers[name] = value;
  }
  // Without the set the library would leave out headers such as user-agent even where they were signed.
  const canonical = getCanonicalHeaders(signable({ headers }), undefined, new Set(signedHeaders));
  const names = Object.keys(canonical).sort();
  const lines = names.map((name) => `${name}:${canonical[name]}\n`).join("");
  const canonicalQuery = getCanonicalQuery(signable({ query: Object.fromEntries(query) }));
  return `${request.method}\n${request.path}\n${canonicalQuery}\n${lines}\n${names.join(";")}\n${bodyHash}`;
}

/** Lambda's events may lack content-length, which the JavaScript and Java SDKs sign. */
const rebuilt = (name: string, { body }: HttpRequest): string | undefined =>
  name === "content-length" ? String(body.byteLength) : undefined;

/** A request in the library's shape, of which each of its functions reads one part. */
const signable = (part: { headers?: Record<string, string>; query?: Record<string, string> }) => ({
  method: "",
  protocol: "",
  hostname: "",
  path: "",
  headers: {},
  ...part,
});
