// `npm start`. Plain JavaScript, so that it can say what is missing under any Node.

const NEEDED = 24;

if (Number(process.versions.node.split(".")[0]) < NEEDED) {
  console.error(
    `nightporter: this is Node ${process.versions.node}, and the local stack runs on Lambda's Node ${NEEDED}, which ` +
      "comes as a dev dependency by its install script: run `npm rebuild node --ignore-scripts=false`, then `npm start`.",
  );
  process.exit(1);
}

const { run } = await import("./run.ts");
await run(process.argv.slice(2));
