// RunInstances as an operation: claim or join the launch of this token, lead it or wait for who does.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "../bus.ts";
import { Fault } from "../fault.ts";
import type { Instance, Placed } from "../instance.ts";
import { instanceOf, launchInputSchema } from "../seed.ts";
import { keys, type Table } from "../table.ts";
import type { Windows } from "../windows.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { type LaunchNodes, Lead, type Led, type Wanted } from "./lead.ts";
import { faultOf, type LaunchRecord, LaunchRecords } from "./record.ts";

export interface LauncherDeps {
  bus: Bus;
  table: Table;
  nodes: LaunchNodes;
  windows: Windows;
  /** Finds the instances of a launch that is done. */
  describe: (account: string, ids: readonly string[]) => Promise<Instance[]>;
}

export interface LaunchRequest {
  imageId: string;
  type: string;
  minCount: number;
  maxCount: number;
  clientToken?: string | undefined;
  /** The RunInstancesInput with the SDK's names, as it goes to the nodes. */
  input: Record<string, unknown>;
}

export interface LaunchCall {
  /** Epoch milliseconds by which the answer must leave. */
  answerBy: number;
  trace?: string | undefined;
}

/**
 * Launches between `minCount` and `maxCount` instances, all or nothing, once per client token.
 * @throws Fault InsufficientInstanceCapacity: nothing was started, the token is free; Unavailable: not decided yet,
 *   the same request finds out; IdempotentParameterMismatch; Unsupported; UnknownImage; ServiceUnavailable
 */
export type Launch = (
  request: LaunchRequest,
  principal: { account: string },
  call: LaunchCall,
) => Promise<Instance[]>;

/** Half of what NATS carries in one message, which leaves room for the headers and for a body that is not ASCII. */
const MOST_INPUT_CHARACTERS = 256 * 1024;

export function createLauncher({ bus, table, nodes, windows, describe }: LauncherDeps): Launch {
  const records = new LaunchRecords(table, windows.leaseMs);
  const deps = { bus, records, nodes, windows };

  const join = async (joined: LaunchRecord, wanted: Wanted, giveUpAt: number): Promise<Instance[]> => {
    for (let record = joined; ; ) {
      if (record.phase === "done") return describe(wanted.account, record.ids ?? []);
      if (record.phase === "failed") throw faultOf(record);
      if (record.leaseUntil <= Date.now()) {
        const exchange = await bus.exchange();
        const taken = await records.takeOver(record);
        if (taken.outcome === "joined") {
          record = taken.record;
          continue;
        }
        const led = await new Lead(deps, taken.record, wanted, giveUpAt).takeUp(exchange);
        if (led.outcome === "done") return whole(taken.record, wanted, led.instances);
        record = led.record;
        continue;
      }
      if (Date.now() + windows.joinPollMs >= giveUpAt) {
        throw new Fault("Unavailable", "The launch of this token is still under way", {
          retryAfterSeconds: 1,
        });
      }
      await sleep(windows.joinPollMs);
      record = (await records.read(record.pk)) ?? goneFault();
    }
  };

  return async (request, { account }, call) => {
    const { type, minCount, maxCount, input, imageId } = request;
    const wanted: Wanted = { account, type, minCount, maxCount, input, imageId, trace: call.trace };
    const giveUpAt = Math.min(call.answerBy, Date.now() + windows.budgetMs);
    if (JSON.stringify(input).length > MOST_INPUT_CHARACTERS) {
      throw new Fault(
        "RequestEntityTooLarge",
        "The parameters of this launch are too large to be sent to a node",
      );
    }
    const fingerprint = fingerprintOf(input);
    const key = keys.launch(account, request.clientToken ?? randomUUID());
    // The connection is tried while the claim is written; a claim without a connection has sent nothing.
    const connecting = bus.exchange();
    connecting.catch(() => {});
    const claimed = await records.claim(key, fingerprint);
    if (claimed.record.fingerprint !== fingerprint) {
      throw new Fault(
        "IdempotentParameterMismatch",
        "The client token was used before for a launch with other parameters; use a new one",
      );
    }
    if (claimed.outcome === "joined") return join(claimed.record, wanted, giveUpAt);
    const led = await lead(claimed.record, wanted, giveUpAt, connecting);
    return led.outcome === "done"
      ? whole(claimed.record, wanted, led.instances)
      : join(led.record, wanted, giveUpAt);
  };

  async function lead(
    record: LaunchRecord,
    wanted: Wanted,
    giveUpAt: number,
    connecting: ReturnType<Bus["exchange"]>,
  ): Promise<Led> {
    const exchange = await connecting.catch(async (error: unknown) => {
      if (error instanceof Fault) await records.fail(record, error);
      throw error;
    });
    return new Lead(deps, record, wanted, giveUpAt).run(exchange);
  }
}

/** The instances as their nodes have them. */
function whole(
  { pk: key, reservation, fence }: LaunchRecord,
  wanted: Wanted,
  placed: readonly Placed[],
): Instance[] {
  const launch = { key, reservation, account: wanted.account, attempt: { fence, n: 0 } };
  const input = launchInputSchema.parse(wanted.input);
  return placed.map((one) => instanceOf(launch, input, one));
}

function goneFault(): never {
  throw new Fault("Unavailable", "The launch record is gone");
}
