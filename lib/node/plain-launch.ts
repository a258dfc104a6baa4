// A launch without our headers, as today's clusters send it: committed by the node that coordinates it, with one
// reply, no retry and no record. Nothing that was started for it stays when it fails.

import type { Placed } from "../instance.ts";
import { asReservation, instanceOf, seedError } from "../seed.ts";
import type { Answer, Ask, LaunchAnswer } from "../wire.ts";
import type { LaunchCall } from "./launch-call.ts";

export interface PlainSources {
  coordinate: (call: LaunchCall) => Promise<LaunchAnswer>;
  /** @returns undefined when the node did not say */
  commit: (node: string, ask: Ask<"commit">) => Promise<Answer<"commit"> | undefined>;
  undo: (node: string, ask: Ask<"undo">) => Promise<void>;
}

type Plan = Extract<LaunchAnswer, { outcome: "plan" }>;

/** @returns the body of the reply: a Reservation, or `{"Code","Message"}` */
export async function servePlain(call: LaunchCall, sources: PlainSources): Promise<unknown> {
  const answer = await sources.coordinate(call);
  switch (answer.outcome) {
    case "started":
      return reservationOf(call, answer.instances);
    case "plan":
      return commitPlan(call, answer, sources);
    case "refused":
      return seedError(
        answer.why === "image" ? "InvalidAMIID.NotFound" : "InsufficientInstanceCapacity",
        answer.why === "size" ? "No node is large enough for this instance type" : null,
      );
    case "invalid":
      return seedError(answer.code, answer.message);
    case "late":
    case "superseded":
      return seedError("ServerInternal", "The launch was not decided in time");
    default:
      return answer satisfies never;
  }
}

async function commitPlan(
  call: LaunchCall,
  { parts }: Plan,
  { commit, undo }: PlainSources,
): Promise<unknown> {
  const { launch, input, deadline } = call;
  const answers = await Promise.all(
    parts.map(({ node, hold, seats }) => commit(node, { launch, hold, seats, input, deadline })),
  );
  const started = answers.flatMap((answer) => (answer?.outcome === "started" ? answer.instances : []));
  if (started.length >= input.MinCount) return reservationOf(call, started);
  // With the next attempt, so that a commit which is still on its way finds itself superseded.
  const { fence, n } = launch.attempt;
  const next = { ...launch, attempt: { fence, n: n + 1 } };
  await Promise.all(
    parts.map(({ node, seats }) => undo(node, { launch: next, ids: seats.map(({ id }) => id) })),
  );
  return seedError("ServerInternal", "A node did not take up its part of the launch");
}

function reservationOf({ launch, input }: LaunchCall, placed: readonly Placed[]): Record<string, unknown> {
  const sorted = placed.toSorted((a, b) => a.index - b.index);
  return asReservation(sorted.map((one) => instanceOf(launch, input, one)));
}
