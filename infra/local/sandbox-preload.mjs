// Loaded in a sandbox before AWS's runtime client.
//
// 1. The client's native half takes minutes to compile, so its install script is denied and `native-client.mjs`
//    stands in: the client asks for it by a path of its own, hence its exact version in package.json.
// 2. A sandbox ends with the gateway that started it: the gateway holds the other end of stdin.

import { registerHooks } from "node:module";

const standIn = new URL("./native-client.mjs", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "./rapid-client.node"
      ? { url: standIn, format: "module", shortCircuit: true }
      : next(specifier, context),
});

process.stdin.once("close", () => process.exit(1)).resume();
