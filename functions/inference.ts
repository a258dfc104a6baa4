// The OpenAI-compatible face. One source, two functions in serverless.yml: `handler` answers API Gateway, which
// waits for the whole response; `stream` answers the Function URL, which passes on each byte as it is written.

import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

const SERVED = ["GET /health"];

function answer(event: APIGatewayProxyEventV2): APIGatewayProxyStructuredResultV2 & { body: string } {
  const asked = `${event.requestContext.http.method} ${event.rawPath}`;
  const json = (statusCode: number, body: unknown) => ({
    statusCode,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (asked === "GET /health") return json(200, { status: "ok" });
  return json(404, {
    error: {
      message: `Nothing is served at ${asked}; served is: ${SERVED.join(", ")}`,
      type: "invalid_request_error",
      code: "not_found",
      param: null,
    },
  });
}

export const handler = async (event: APIGatewayProxyEventV2) => answer(event);

export const stream = awslambda.streamifyResponse<APIGatewayProxyEventV2>(async (event, responseStream) => {
  const { body, ...head } = answer(event);
  const response = awslambda.HttpResponseStream.from(responseStream, head);
  // AWS's runtime client sends the status and headers with the first write; `end(body)` alone would lose them.
  response.write(body);
  response.end();
});
