// What a node tells of its instances: in the order of their ids, as many as fit into one message.

import type { Instance } from "../instance.ts";
import type { Answer, Ask } from "../wire.ts";
import type { InstanceStore } from "./instance-store.ts";

/** Half of NATS's limit, since characters may take several bytes. */
const MOST_CHARACTERS = 512 * 1024;

export function readInstances(
  store: InstanceStore,
  { account, ids, after = "" }: Ask<"instances">,
): Pick<Answer<"instances">, "instances" | "more"> {
  const wanted = ids ? ids.map((id) => store.get(id)).filter((one) => one !== undefined) : store.all();
  const rest = wanted
    .filter((one) => one.account === account && one.id > after)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const instances: Instance[] = [];
  let characters = 0;
  for (const { userData: _, ...told } of rest) {
    characters += JSON.stringify(told).length;
    if (characters > MOST_CHARACTERS && instances.length > 0) return { instances, more: true };
    instances.push(told);
  }
  return { instances, more: false };
}
