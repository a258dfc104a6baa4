// A customer of the EC2 face: the real SDK, with one try a call so that what is counted was asked once.

import { Agent } from "node:http";
import {
  type _InstanceType,
  DescribeInstancesCommand,
  DescribeRegionsCommand,
  EC2Client,
  type EC2ServiceException,
  type Instance,
  type InstanceStateName,
  RebootInstancesCommand,
  type Reservation,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { eventually } from "./eventually.ts";
import type { Stack } from "./stack.ts";

/** More than any test calls at once: the SDK's own 50 would queue the rest. */
const SOCKETS = 200;

const SETTLED: ReadonlySet<string> = new Set(["running", "stopped", "terminated"]);

/** What the customer was refused with, and how long that took over HTTP. */
export interface Refusal {
  code: string;
  status: number | undefined;
  message: string;
  ms: number;
}

export class Customer implements Disposable {
  readonly ec2: EC2Client;
  readonly stack: Stack;
  readonly imageId: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });

  constructor(stack: Stack, gateway = 0) {
    const { gateways, region, accessKeyId, secretAccessKey, imageId } = stack.ready;
    this.stack = stack;
    this.imageId = imageId;
    this.ec2 = new EC2Client({
      endpoint: gateways[gateway]!.url,
      region,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: 1,
      requestHandler: { httpAgent: this.#agent },
    });
  }

  /** Calls that have left this process and are not answered yet. */
  get waiting(): number {
    const sockets = Object.values(this.#agent.sockets).flatMap((found) => found ?? []);
    return sockets.filter((socket) => socket.bytesWritten > 0 && socket.writableLength === 0).length;
  }

  /** @param count how many, or the least and the most */
  async launch(
    count: number | readonly [min: number, max: number] = 1,
    { type = "t3.micro", ...more }: { type?: string } & Partial<RunInstancesCommandInput> = {},
  ): Promise<Reservation> {
    const [MinCount, MaxCount] = typeof count === "number" ? [count, count] : count;
    const InstanceType = type as _InstanceType;
    const input = { ImageId: this.imageId, InstanceType, MinCount, MaxCount, ...more };
    return await this.ec2.send(new RunInstancesCommand(input));
  }

  async reservations(ids?: readonly string[]): Promise<Reservation[]> {
    const input = ids ? { InstanceIds: [...ids] } : {};
    return (await this.ec2.send(new DescribeInstancesCommand(input))).Reservations ?? [];
  }

  /** Those named, or all that the live nodes hold. */
  async instances(ids?: readonly string[]): Promise<Instance[]> {
    return (await this.reservations(ids)).flatMap((reservation) => reservation.Instances ?? []);
  }

  /** In the order of `ids`. */
  async states(ids: readonly string[]): Promise<(InstanceStateName | undefined)[]> {
    const found = new Map((await this.instances(ids)).map((one) => [one.InstanceId, one.State?.Name]));
    return ids.map((id) => found.get(id));
  }

  /** Waits until all of them are in that state. */
  async until(state: InstanceStateName, ids: readonly string[]): Promise<void> {
    await eventually(`${ids.join(", ")} ${state}`, async () =>
      (await this.states(ids)).every((found) => found === state),
    );
  }

  /** Waits until no instance is on its way from one state to another. */
  async settled(): Promise<void> {
    await eventually("all instances have settled", async () =>
      (await this.instances()).every(({ State }) => SETTLED.has(State?.Name ?? "")),
    );
  }

  async start(...ids: string[]) {
    return (await this.ec2.send(new StartInstancesCommand({ InstanceIds: ids }))).StartingInstances;
  }

  async stop(...ids: string[]) {
    return (await this.ec2.send(new StopInstancesCommand({ InstanceIds: ids }))).StoppingInstances;
  }

  async reboot(...ids: string[]): Promise<void> {
    await this.ec2.send(new RebootInstancesCommand({ InstanceIds: ids }));
  }

  async terminate(...ids: string[]) {
    return (await this.ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }))).TerminatingInstances;
  }

  /** A call that needs no node. */
  async regions(): Promise<void> {
    await this.ec2.send(new DescribeRegionsCommand({}));
  }

  /** Ends all instances and waits until their room is free again. */
  async leave(): Promise<void> {
    const standing = (await this.instances()).filter(({ State }) => State?.Name !== "terminated");
    if (standing.length === 0) return;
    const ids = standing.map(({ InstanceId }) => InstanceId!);
    await this.terminate(...ids);
    await this.until("terminated", ids);
  }

  [Symbol.dispose](): void {
    this.ec2.destroy();
  }
}

export const idsOf = (...reservations: readonly Reservation[]): string[] =>
  reservations.flatMap(({ Instances }) => (Instances ?? []).map(({ InstanceId }) => InstanceId!));

/**
 * @returns how the call was refused
 * @throws Error when it was not
 */
export async function refusalOf(call: () => Promise<unknown>): Promise<Refusal> {
  const start = performance.now();
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    const { name: code, message, $metadata } = error as EC2ServiceException;
    return { code, status: $metadata?.httpStatusCode, message, ms: performance.now() - start };
  }
  throw new Error(`expected a refusal, got ${JSON.stringify(answer)}`);
}

/** Of several calls at once: what succeeded, and how the others were refused. */
export async function outcomesOf(
  calls: readonly Promise<Reservation>[],
): Promise<{ launched: Reservation[]; refused: Refusal[] }> {
  const launched: Reservation[] = [];
  const refused: Refusal[] = [];
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === "fulfilled") launched.push(outcome.value);
    else refused.push(await refusalOf(() => Promise.reject(outcome.reason)));
  }
  return { launched, refused };
}
