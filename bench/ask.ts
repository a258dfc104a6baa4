// An ask: what each full node adds to a launch when it is asked by name before the one that has room.

import { ACCOUNT } from "../infra/local/account.ts";
import { formatAttempt, mintReservationId } from "../lib/attempt.ts";
import { type Exchange, triedHeader } from "../lib/exchange.ts";
import { readWindows, type Windows } from "../lib/windows.ts";
import {
  HEADERS,
  type LaunchAnswer,
  type LaunchRef,
  launchAnswerSchema,
  launchSubject,
} from "../lib/wire.ts";
import { Cluster, request } from "../test/support/cluster.ts";
import { ASK_SIZE, openBareRequest } from "./bare-request.ts";
import type { Findings } from "./figure.ts";
import { median, repeat, slope, timed } from "./sample.ts";

const FULL_NODES = Array.from({ length: 10 }, (_, at) => `full-${at}`);
const ROOMY_NODE = "roomy";
const TYPE = "t3.micro";
/** Exactly one t3.micro: full once that is launched. */
const ONE_PLACE = "2x1";
/**
 * Nobody beats while this runs. So all go on believing that the full nodes have the one place they greeted with, and
 * ask them, the tightest fits, before the roomy one: the worst that a roster can be wrong.
 */
const NO_BEAT_MS = 600_000;
const ROUNDS = 600;
const WARM_UP = 60;
const WITHIN_MS = 25_000;
const AIM_MS = 1;

export async function measureAsk(): Promise<Findings> {
  const sizes = [...FULL_NODES.map((name) => [name, ONE_PLACE]), [ROOMY_NODE, "64x64"]];
  await using cluster = await Cluster.start({
    nodes: Object.fromEntries(sizes),
    windows: { ...readWindows(undefined), beatMs: NO_BEAT_MS },
  });
  for (const name of FULL_NODES) await cluster.occupy(name, 1, TYPE);
  const exchange = await cluster.exchange();
  await using bare = await openBareRequest(cluster, ASK_SIZE);
  const points: { x: number; y: number }[] = [];
  const bareMs: number[] = [];
  await repeat({ rounds: WARM_UP + ROUNDS, withinMs: WITHIN_MS }, async (at) => {
    const tried = FULL_NODES.slice(0, at % FULL_NODES.length);
    const { ms, launch, answer } = await publish(exchange, cluster.windows, tried);
    bareMs.push((await timed(() => bare.send())).ms);
    const asks = await giveBack(exchange, launch, answer, tried);
    if (asks !== undefined && at >= WARM_UP) points.push({ x: asks, y: ms });
  });
  const medianAt = (asks: number) => median(points.filter(({ x }) => x === asks).map(({ y }) => y));
  const counts = points.map(({ x }) => x);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  return {
    figures: [
      {
        figure: "ask.added",
        value: slope(points),
        unit: "ms per ask",
        aim: { atMost: AIM_MS },
        beside: {
          [`p50With${fewest}Ms`]: medianAt(fewest),
          [`p50With${most}Ms`]: medianAt(most),
          bareRequestMs: median(bareMs),
          launches: points.length,
        },
        how: `slope of p50 over the number of full nodes (${fewest} to ${most}, in turn) that a launch to the plain subject asks by name before one has room, from publishing to the plan`,
      },
    ],
  };
}

/** A launch in the gateway's dialect, on the plain subject, so that any node may have to coordinate. */
async function publish(exchange: Exchange, windows: Windows, tried: readonly string[]) {
  const attempt = { fence: Date.now(), n: 1 };
  const launch: LaunchRef = { reservation: mintReservationId(), account: ACCOUNT, attempt };
  const { input } = request(1, { type: TYPE });
  const headers = {
    [HEADERS.reservation]: launch.reservation,
    [HEADERS.attempt]: formatAttempt(attempt),
    [HEADERS.account]: ACCOUNT,
    ...triedHeader(tried),
  };
  const { ms, result } = await timed(() =>
    exchange.request(launchSubject(), input, launchAnswerSchema, windows.launchMs, headers),
  );
  if (result.outcome !== "answered") throw new Error(`a launch on the plain subject was ${result.outcome}`);
  return { ms, launch, answer: result.answer };
}

/**
 * Frees what the launch took.
 * @returns how many full nodes were asked by name; undefined when the roomy node itself coordinated, since it asks
 *   nobody
 */
async function giveBack(
  exchange: Exchange,
  launch: LaunchRef,
  answer: LaunchAnswer,
  tried: readonly string[],
) {
  if (answer.outcome === "started") {
    const ids = answer.instances.map(({ id }) => id);
    await exchange.ask(answer.node, "undo", { launch, ids }, 1000);
    return undefined;
  }
  if (answer.outcome !== "plan") throw new Error(`a launch with room on one node was ${answer.outcome}`);
  for (const { node, hold } of answer.parts) await exchange.ask(node, "release", { launch, hold }, 1000);
  // The coordinator looks at its own ledger; whoever is named as tried is not asked.
  return FULL_NODES.filter((name) => name !== answer.node && !tried.includes(name)).length;
}
