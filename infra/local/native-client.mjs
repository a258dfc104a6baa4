// What AWS's runtime client expects of its native half, over plain HTTP: fetch the next invocation, post an answer.

import { Agent, request } from "node:http";

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The native half posts before it returns; here the next fetch waits for the post instead. */
let posted = Promise.resolve();

function call(method, path, body, headers) {
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      agent,
      method,
      headers,
      path: `/2018-06-01/runtime/invocation/${path}`,
    };
    request(options, async (response) => {
      const chunks = await response.toArray();
      resolve({ bodyJson: Buffer.concat(chunks).toString(), headers: response.headers });
    })
      .on("error", reject)
      .end(body);
  });
}

const post = (path, body, headers) => {
  posted = call("POST", path, body, { "content-type": "application/json", ...headers });
};

export function initializeClient() {}

export async function next() {
  await posted;
  return await call("GET", "next");
}

export function done(id, body) {
  post(`${id}/response`, body);
}

export function error(id, body, xrayCause) {
  post(`${id}/error`, body, { "lambda-runtime-function-xray-error-cause": xrayCause });
}
