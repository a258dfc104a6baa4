import { expect, test } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { httpEvent, lambdaContext } from "../ec2/front-door.ts";
import { gatewayOver, record } from "../ec2/gateway.ts";
import { send, signedCall } from "../ec2/signed-call.ts";

const LAUNCH = "Action=RunInstances&ImageId=ami-0000000a&InstanceType=t3.micro&MinCount=1&MaxCount=1";

test("a handler that overruns answers by itself, before Lambda's deadline", async () => {
  const { handler, log } = gatewayOver([], { launch: () => new Promise(() => {}) });
  const event = httpEvent(await signedCall(LAUNCH));
  const context = lambdaContext(800);

  const result = await handler(event, context);

  expect(context.getRemainingTimeInMillis()).toBeGreaterThan(300);
  expect(result).toMatchObject({
    statusCode: 503,
    headers: { "content-type": "text/xml;charset=UTF-8", "retry-after": "1" },
    body: expect.stringContaining("<Code>Unavailable</Code>"),
  });
  expect(log).toMatchObject([{ action: "RunInstances", status: 503, code: "Unavailable" }]);
});

test("what finishes after the answer has left is not logged again", async () => {
  let finish = () => {};
  const { handler, log } = gatewayOver([], {
    launch: () =>
      new Promise((resolve) => {
        finish = () => resolve([record()]);
      }),
  });
  await handler(httpEvent(await signedCall(LAUNCH)), lambdaContext(550));
  finish();
  await new Promise(setImmediate);
  expect(log).toHaveLength(1);
});

test("an operation is told by when to answer", async () => {
  let answerBy = 0;
  const { handler } = gatewayOver([], {
    launch: async (_request, _principal, call) => {
      answerBy = call.answerBy;
      return [record()];
    },
  });
  await handler(httpEvent(await signedCall(LAUNCH)), lambdaContext(10_000));
  expect(answerBy - Date.now()).toBeGreaterThan(9_000);
  expect(answerBy - Date.now()).toBeLessThanOrEqual(9_500);
});

test("an unexpected error is InternalError in XML, and its stack is in the log alone", async () => {
  const { handler, log } = gatewayOver([], {
    launch: () => Promise.reject(new TypeError("x is undefined")),
  });
  const answer = await send(handler, await signedCall(LAUNCH));
  expect(answer).toMatchObject({ status: 500, code: "InternalError" });
  expect(answer.body).not.toContain("undefined");
  expect(log[0]?.error).toContain("TypeError: x is undefined\n    at ");
});

test("a fault says how long to wait where that is known", async () => {
  const { handler } = gatewayOver([], {
    launch: () =>
      Promise.reject(new Fault("InsufficientInstanceCapacity", undefined, { retryAfterSeconds: 1.5 })),
  });
  const answer = await send(handler, await signedCall(LAUNCH));
  expect(answer).toMatchObject({
    status: 503,
    code: "InsufficientInstanceCapacity",
    headers: { "retry-after": "2" },
  });
});

test("each request writes one line, which holds no secret", async () => {
  const { handler, log } = gatewayOver([record()]);
  const answer = await send(handler, await signedCall(`${LAUNCH}&UserData=c2VjcmV0`));
  expect(log).toEqual([
    {
      requestId: answer.headers["x-amzn-requestid"],
      account: "000000000001",
      accessKeyId: "AKIDEXAMPLE",
      action: "RunInstances",
      status: 200,
      ms: expect.any(Number),
    },
  ]);
  expect(answer.body).toContain(`<requestId>${log[0]?.requestId}</requestId>`);
});

test("a body that is text in the event is read like one in base64", async () => {
  const { handler } = gatewayOver([record()]);
  const event = httpEvent(await signedCall(LAUNCH));
  const body = Buffer.from(event.body!, "base64").toString();
  const result = await handler({ ...event, body, isBase64Encoded: false }, lambdaContext());
  expect(result).toMatchObject({ statusCode: 200 });
});
