// Runs before `npm start`, `npm test` and the others: sets up what is missing, and says so on stderr.
//
// Plain JavaScript for Node 20, since on a fresh clone the packages, and Lambda's Node among them, are not there yet.
// When nothing is missing it only reads two lock files.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const LAMBDA_NODE = join(root, "node_modules", "node", "bin", "node");

/** npm hands `--` arguments to `start`, not to `prestart`; this says no to both. */
const NO_INSTALL = "NIGHTPORTER_NO_INSTALL";
/** The scripts that talk to a real nats-server. Run by hand, this file is for them too. */
const NEEDS_NATS = ["prestart", "pretest", "prebench", undefined];

const say = (text) => process.stderr.write(`${text}\n`);

function give(text) {
  say(`nightporter: ${text}`);
  process.exit(1);
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * npm keeps a list of what it installed; it is compared with the lock file by content, since a checkout changes times.
 * Packages for other platforms are in the lock file only.
 */
function packagesAreThere() {
  const wanted = readJson("package-lock.json")?.packages ?? {};
  const installed = readJson("node_modules/.package-lock.json")?.packages;
  if (!installed) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      !path || installed[path]?.version === version || (optional && !installed[path]),
  );
}

function installPackages() {
  const fresh = !existsSync(join(root, "node_modules"));
  say(fresh ? "Installing packages (about a minute) …" : "Packages have changed; installing …");
  const npm = process.env.npm_execpath;
  // The Node that runs npm, not the one in node_modules, which npm is about to replace.
  const command = npm ? (process.env.npm_node_execpath ?? process.execPath) : "npm";
  const args = [
    ...(npm ? [npm] : []),
    fresh ? "ci" : "install",
    "--include=dev",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const { status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) give(`npm could not install the packages (exit ${status}); its words are above.`);
}

/** Debian keeps servers in `sbin`, which is not on everybody's PATH; the local stack looks there too. */
const folders = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => [folder, folder.replace(/\/bin\/?$/, "/sbin")]);

function onPath(command) {
  return folders.some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A person may say no by flag or by environment. npm shows the whole command line as its own title. */
function saidNo() {
  if (process.env[NO_INSTALL]) return true;
  if (process.argv.includes("--no-install")) return true;
  // `npm start --no-install` (without `--`) becomes npm's own setting `install=false`.
  if (["", "false"].includes(process.env.npm_config_install ?? "true")) return true;
  return /\s--no-install\b/.test(parentsCommandLine());
}

/** Linux keeps it in a file; elsewhere there is `ps`, which small Linux images lack. */
function parentsCommandLine() {
  try {
    return readFileSync(`/proc/${process.ppid}/cmdline`, "utf8");
  } catch {
    return spawnSync("ps", ["-o", "args=", "-p", String(process.ppid)], { encoding: "utf8" }).stdout ?? "";
  }
}

const succeeds = (command, args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** @returns how to run a command as root without being asked for a password, or undefined */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  return onPath("sudo") && succeeds("sudo", ["-n", "true"]) ? ["sudo", "-n"] : undefined;
}

/** Debian's way and macOS's. `command` is what a person would type. */
function systemInstaller() {
  if (onPath("brew")) return { prefix: [], steps: [["brew", "install", "nats-server"]], size: "about 15 MB" };
  if (!onPath("apt-get")) return undefined;
  const install = ["apt-get", "install", "-y", "--no-install-recommends", "nats-server"];
  const known = spawnSync("apt-cache", ["show", "nats-server"], { encoding: "utf8" }).stdout || "";
  const bytes = Number(/^Size: (\d+)/m.exec(known)?.[1] ?? 0);
  return {
    prefix: asRoot(),
    // A fresh container has no package lists.
    steps: bytes ? [install] : [["apt-get", "update"], install],
    size: bytes ? `${(bytes / 1e6).toFixed(1)} MB` : "about 4 MB",
  };
}

function ensureNatsServer() {
  if (onPath("nats-server")) return;
  const installer = systemInstaller();
  const typed = installer ? installer.steps.map((step) => step.join(" ")).join(" && ") : undefined;
  const byHand = typed
    ? `type: ${installer.prefix?.length === 0 ? "" : "sudo "}${typed}`
    : "get it from https://github.com/nats-io/nats-server/releases and put it on PATH";
  if (saidNo() || !installer?.prefix) give(`nats-server is needed and not on PATH; ${byHand}`);
  say(
    `Installing nats-server (${installer.size}) with ${installer.steps[0][0]}. ` +
      `To say no: ${NO_INSTALL}=1 npm start, or npm start -- --no-install`,
  );
  const serviceBefore = natsServiceRuns();
  for (const [command, ...args] of installer.steps) {
    const [program, ...rest] = [...installer.prefix, command, ...args];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status } = spawnSync(program, rest, { env, stdio: ["ignore", 2, 2] });
    if (status !== 0) give(`${[program, ...rest].join(" ")} failed (exit ${status}); ${byHand}`);
  }
  // Debian's package starts a service of its own. It does no harm, and it is not ours to leave running.
  if (!serviceBefore && natsServiceRuns()) {
    const [program, ...rest] = [...installer.prefix, "systemctl", "disable", "--now", "nats-server"];
    spawnSync(program, rest, { stdio: "ignore" });
    say("Stopped the service that the package had started; the local stack runs a nats-server of its own.");
  }
  if (!onPath("nats-server")) give("nats-server was installed but is not on PATH");
}

const natsServiceRuns = () => succeeds("systemctl", ["is-active", "--quiet", "nats-server"]);

if (!packagesAreThere()) installPackages();
if (!existsSync(LAMBDA_NODE)) {
  give(
    "Lambda's Node is missing, since install scripts are turned off; type: npm rebuild node --ignore-scripts=false",
  );
}
if (NEEDS_NATS.includes(process.env.npm_lifecycle_event)) ensureNatsServer();
