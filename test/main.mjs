// `npm test`: vitest, whose last line here is always `N passed, N failed`. Arguments after `--` are vitest's own.

const NEEDED = 24;

if (Number(process.versions.node.split(".")[0]) < NEEDED) {
  console.error(
    `nightporter: this is Node ${process.versions.node}, and the tests run on Lambda's Node ${NEEDED}, which comes as ` +
      "a dev dependency by its install script: run `npm rebuild node --ignore-scripts=false`, then `npm test`.",
  );
  process.exit(1);
}

const { parseCLI, startVitest } = await import("vitest/node");

const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
const vitest = await startVitest("test", filter, { ...options, watch: false });

const count = { passed: 0, failed: 0, skipped: 0 };
for (const file of vitest.state.getTestModules()) {
  for (const test of file.children.allTests()) {
    const { state } = test.result();
    count[state in count ? state : "skipped"]++;
  }
  // A file that could not be loaded has no tests to fail.
  if (file.state() === "failed" && file.errors().length > 0) count.failed++;
}
count.failed += vitest.state.getUnhandledErrors().length;
await vitest.close();

const skipped = count.skipped ? `, ${count.skipped} skipped` : "";
const ok = count.failed === 0 && count.passed > 0 && !process.exitCode;
process.exitCode = ok ? 0 : 1;
process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`);
