// What a node tells of its instances: in the order of their ids, as many as fit into one message.

import type { Instance } from "../instance.ts";
import type { Answer, Ask } from "../wire.ts";
import type { InstanceStore } from "./instance-store.ts";

/** Below NATS's 1 MiB, headers and the rest of the answer included. */
const MOST_BYTES = 768 * 1024;

export function readInstances(
  store: InstanceStore,
  { account, ids, after = "" }: Ask<"instances">,
): Pick<Answer<"instances">, "instances" | "more"> {
  const wanted = ids ? ids.map((id) => store.get(id)).filter((one) => one !== undefined) : store.all();
  const rest = wanted
    .filter((one) => one.account === account && one.id > after)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const instances: Instance[] = [];
  let bytes = 0;
  for (const { userData: _, ...told } of rest) {
    bytes += Buffer.byteLength(JSON.stringify(told)) + 1;
    if (bytes > MOST_BYTES && instances.length > 0) return { instances, more: true };
    instances.push(told);
  }
  return { instances, more: false };
}
