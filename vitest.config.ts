import { defineConfig } from "vitest/config";

/** Most files start a stack of their own: daemons, sandboxes, nats-server and DynamoDB on the same few cores. */
const WORKERS = 2;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", ...(process.env.NIGHTPORTER_SOAK ? ["test/**/*.soak.ts"] : [])],
    environment: "node",
    pool: "forks",
    maxWorkers: WORKERS,
    // A stack takes three seconds to start on idle cores, and several times that beside another.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 10_000,
    // A sentence that passes is not news.
    reporters: process.env.CI ? ["verbose"] : ["default"],
  },
});
