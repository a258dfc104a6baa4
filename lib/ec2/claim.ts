// What a signed request says about its own signature: read from the Authorization header or from a presigned URL,
// checked for form only. Messages are AWS's own words where they are known.

import { Fault } from "../fault.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Parameters } from "./parameters.ts";

export interface Claim {
  accessKeyId: string;
  /** Of the credential scope: yyyymmdd, region, service, terminator. */
  day: string;
  region: string;
  service: string;
  terminator: string;
  signedHeaders: string[];
  signature: string;
  /** The time of signing as it was signed, `yyyymmddThhmmssZ`. */
  stamp: string;
  /** Only of a presigned URL. */
  expiresSeconds?: number;
  sessionToken?: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const SIGNATURE = /^[0-9a-f]{64}$/;
const STAMP = /^\d{8}T\d{6}Z$/;

/** A presigned URL lives for seven days at most, as everywhere at AWS. */
const MAX_EXPIRES_SECONDS = 604_800;

const malformed = (message: string): Fault => new Fault("IncompleteSignature", message);

/**
 * @param query the parameters of the query string alone
 * @throws Fault MissingAuthenticationToken, IncompleteSignature
 */
export function readClaim({ headers }: HttpRequest, query: Parameters): Claim {
  const inQuery = ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature"].some((name) => query.has(name));
  if (!inQuery) {
    if (!headers.authorization) throw new Fault("MissingAuthenticationToken");
    return claimOfHeader(headers.authorization, headers);
  }
  if (headers.authorization) {
    throw malformed(
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter or the Authorization header should be specified",
    );
  }
  return claimOfQuery(query);
}

/** `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`, the three in any order. */
function claimOfHeader(authorization: string, headers: HttpRequest["headers"]): Claim {
  const space = authorization.indexOf(" ");
  const algorithm = space < 0 ? authorization : authorization.slice(0, space);
  if (algorithm !== ALGORITHM) throw malformed(`Unsupported AWS 'algorithm': '${algorithm}'.`);
  const parts = new Map<string, string>();
  for (const part of authorization.slice(space + 1).split(",")) {
    const [, name, value] = /^\s*([A-Za-z]+)=(\S*)\s*$/.exec(part) ?? [];
    if (name === undefined || parts.has(name)) {
      throw malformed(`'${part.trim()}' not a valid key=value pair in Authorization header`);
    }
    parts.set(name, value!);
  }
  const need = (name: string): string => {
    const value = parts.get(name);
    if (!value) throw malformed(`Authorization header requires '${name}' parameter.`);
    return value;
  };
  return {
    ...credential(need("Credential")),
    signedHeaders: need("SignedHeaders").split(";"),
    signature: signature(need("Signature")),
    stamp: stampOfHeaders(headers),
    ...token(headers["x-amz-security-token"]),
  };
}

function claimOfQuery(query: Parameters): Claim {
  const need = (name: string): string => {
    const value = query.get(name);
    if (!value) throw malformed(`AWS query-string parameters must include '${name}'.`);
    return value;
  };
  const algorithm = need("X-Amz-Algorithm");
  if (algorithm !== ALGORITHM) throw malformed(`Unsupported AWS 'algorithm': '${algorithm}'.`);
  const expires = need("X-Amz-Expires");
  const expiresSeconds = /^\d{1,6}$/.test(expires) ? Number(expires) : 0;
  if (expiresSeconds < 1 || expiresSeconds > MAX_EXPIRES_SECONDS) {
    throw malformed(`X-Amz-Expires must be from 1 to ${MAX_EXPIRES_SECONDS} seconds. Got '${expires}'.`);
  }
  return {
    ...credential(need("X-Amz-Credential")),
    signedHeaders: need("X-Amz-SignedHeaders").split(";"),
    signature: signature(need("X-Amz-Signature")),
    stamp: stamp(need("X-Amz-Date")),
    expiresSeconds,
    ...token(query.get("X-Amz-Security-Token")),
  };
}

function credential(text: string) {
  const parts = text.split("/");
  const [accessKeyId, day, region, service, terminator] = parts;
  if (parts.length !== 5 || !accessKeyId || !day || !region || !service || !terminator) {
    throw malformed(
      `Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '${text}'`,
    );
  }
  return { accessKeyId, day, region, service, terminator };
}

function signature(text: string): string {
  if (!SIGNATURE.test(text)) throw malformed("A signature is 64 lower-case hexadecimal digits.");
  return text;
}

function stamp(text: string): string {
  if (!STAMP.test(text)) throw malformed(`Date must be in ISO-8601 'basic format'. Got '${text}'.`);
  return text;
}

/** Some clients sign over `Date` and send no X-Amz-Date. What is signed as the time is ISO's basic form all the same. */
function stampOfHeaders(headers: HttpRequest["headers"]): string {
  if (headers["x-amz-date"] !== undefined) return stamp(headers["x-amz-date"]);
  const { date } = headers;
  if (date === undefined) {
    throw malformed("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
  }
  const time = Date.parse(date);
  if (Number.isNaN(time)) return stamp(date);
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
}

const token = (sessionToken: string | undefined) => (sessionToken === undefined ? {} : { sessionToken });
