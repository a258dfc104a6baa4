// Access keys that stand in a store: read once, read again when a signature is refused, never more often than that.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AccessKey, readAccessKeys } from "../../lib/config.ts";
import { opened } from "../../lib/secret.ts";
import { gatewayOver, KEY, REGION, record } from "../ec2/gateway.ts";
import { type SigningOptions, send, signedCall } from "../ec2/signed-call.ts";
import { eventually } from "../support/eventually.ts";
import { MISSING, Moto, type Shelf } from "./moto.ts";

const BODY = "Action=DescribeInstances&Version=2016-11-15";
const ROTATED: AccessKey = { ...KEY, secretAccessKey: "rotated-secret" };
const WINDOWS = { secretMs: 5 * 60_000, secretAgainMs: 10_000 };
const VARIABLE = "NIGHTPORTER_ACCESS_KEYS";

const listOf = (...keys: AccessKey[]): string => JSON.stringify(keys);

function keysAt({ reference }: Shelf, windows: Partial<typeof WINDOWS> = {}) {
  return readAccessKeys({ [VARIABLE]: reference }, { region: REGION, windows: { ...WINDOWS, ...windows } });
}

function gatewayAt(shelf: Shelf, windows?: Partial<typeof WINDOWS>) {
  const { handler, log } = gatewayOver([record()], {}, keysAt(shelf, windows));
  const ask = async (by: SigningOptions) => send(handler, await signedCall(BODY, by));
  return { ask, log };
}

describe.skipIf(MISSING)(MISSING ?? "access keys", () => {
  let moto: Moto;
  beforeAll(async () => {
    moto = await Moto.start();
    for (const [name, value] of Object.entries(moto.environment)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await moto?.[Symbol.asyncDispose]();
  });

  describe.each(["parameter", "secret"] as const)("in a %s", (kind) => {
    test("are read once for many requests", async () => {
      const { ask } = gatewayAt(await moto[kind](listOf(KEY)));
      const before = moto.readings;

      for (let n = 0; n < 5; n++) expect(await ask(KEY)).toMatchObject({ status: 200 });

      expect(moto.readings - before).toBe(1);
    });

    test("are read again when one was rotated, and the old one is out", async () => {
      const shelf = await moto[kind](listOf(KEY));
      const { ask } = gatewayAt(shelf);
      expect(await ask(KEY)).toMatchObject({ status: 200 });

      await shelf.put(listOf(ROTATED));

      expect(await ask(ROTATED)).toMatchObject({ status: 200 });
      expect(await ask(KEY)).toMatchObject({ status: 401, code: "AuthFailure" });
    });

    test("are read again when one was added", async () => {
      const shelf = await moto[kind](listOf(KEY));
      const { ask } = gatewayAt(shelf);
      expect(await ask(KEY)).toMatchObject({ status: 200 });
      const added = { ...ROTATED, accessKeyId: "AKIDADDED" };

      await shelf.put(listOf(KEY, added));

      expect(await ask(added)).toMatchObject({ status: 200 });
      expect(await ask(KEY)).toMatchObject({ status: 200 });
    });

    test("that are not there fail the cold start, naming the variable", async () => {
      const { reference } = await moto[kind](listOf(KEY));
      const nowhere = reference.replace("secret-", "nowhere-");

      const opening = opened(keysAt({ reference: nowhere, put: async () => {} }));

      await expect(opening).rejects.toThrow(`${VARIABLE} is ${nowhere}`);
    });
  });

  test("are read no more than once an interval, however many sign wrongly", async () => {
    const secretAgainMs = 300;
    const { ask } = gatewayAt(await moto.parameter(listOf(KEY)), { secretAgainMs });
    await ask(KEY);
    const before = moto.readings;
    const start = Date.now();
    const readings = () => moto.readings - before;
    const atMost = () => 1 + Math.floor((Date.now() - start) / secretAgainMs);

    await eventually("a second interval has begun", async () => {
      const together = [ask({ secretAccessKey: "wrong" }), ask({ accessKeyId: "AKIDNOBODY" })];
      for (const answer of await Promise.all(together)) expect(answer.code).toBe("AuthFailure");
      expect(readings()).toBeLessThanOrEqual(atMost());
      return readings() > 1;
    });
  });

  test("that were withdrawn are refused when what is held has aged", async () => {
    const shelf = await moto.parameter(listOf(KEY));
    const { ask } = gatewayAt(shelf, { secretMs: 1 });
    expect(await ask(KEY)).toMatchObject({ status: 200 });

    await shelf.put(listOf(ROTATED));

    await eventually("it is refused", async () => (await ask(KEY)).status === 401);
  });

  test("out of reach are a 503 that names the variable, until the store is back", async () => {
    const shelf = await moto.parameter(listOf(KEY));
    const { ask, log } = gatewayAt(shelf);
    moto.outOfReach(true);
    try {
      await opened(keysAt(shelf));
      expect(await ask(KEY)).toMatchObject({
        status: 503,
        code: "ServiceUnavailable",
        message: expect.stringContaining(VARIABLE),
        headers: { "retry-after": "1" },
      });
    } finally {
      moto.outOfReach(false);
    }
    expect(log[0]!.error).toContain(shelf.reference);
    expect(await ask(KEY)).toMatchObject({ status: 200 });
  });

  test("out of reach do not turn away those whose key is held", async () => {
    const { ask } = gatewayAt(await moto.parameter(listOf(KEY)));
    await ask(KEY);
    moto.outOfReach(true);
    try {
      expect(await ask(KEY)).toMatchObject({ status: 200 });
      const before = moto.readings;
      // Whether that key is a new one cannot be told now. What cannot be told is not asked for each of them.
      const answers = await Promise.all([ask(ROTATED), ask(ROTATED)]);
      const perReading = moto.readings - before;
      answers.push(await ask(ROTATED));
      for (const answer of answers) expect(answer.code).toBe("ServiceUnavailable");
      expect(moto.readings - before).toBe(perReading);
    } finally {
      moto.outOfReach(false);
    }
  });

  test.each([
    ["no JSON", '[{"accessKeyId":"AKIDEXAMPLE","secretAccessKey":"sesame"'],
    ["a key without an account", '[{"accessKeyId":"AKIDEXAMPLE","secretAccessKey":"sesame"}]'],
    ["an account of three digits", listOf({ ...KEY, secretAccessKey: "sesame", account: "123" })],
    ["no key", "[]"],
  ])(
    "that are %s fail the cold start, saying what was expected and nothing of what is there",
    async (_, text) => {
      const shelf = await moto.parameter(text);
      const failure = await opened(keysAt(shelf)).catch((error: Error) => error);

      expect(String(failure)).toContain(VARIABLE);
      expect(String(failure)).toContain("expected a JSON list");
      expect((failure as Error).stack).not.toContain("sesame");
    },
  );

  test("spoilt while a gateway runs are a 503 without a word of what is there", async () => {
    const shelf = await moto.parameter(listOf(KEY));
    const { ask, log } = gatewayAt(shelf);
    await ask(KEY);

    await shelf.put("sesame");

    const answer = await ask(ROTATED);
    expect(answer).toMatchObject({ status: 503, message: expect.stringContaining(VARIABLE) });
    expect(answer.body + JSON.stringify(log)).not.toContain("sesame");
  });
});
