// Speaking to the other nodes: what a coordinator asks of them, each by name.

import { type Exchange, triedHeader } from "../exchange.ts";
import type { Windows } from "../windows.ts";
import { type Ask, type LaunchRef, roomAnswerSchema, roomSubject } from "../wire.ts";
import type { LaunchDeskOptions } from "./launch-desk.ts";
import type { Roster } from "./roster.ts";

type Peers = Pick<LaunchDeskOptions, "sources" | "commit" | "undo">;

export function peersOf(node: string, exchange: Exchange, roster: Roster, windows: Windows): Peers {
  let minted = 0;
  // The start of the process is part of a hold's name: a restarted daemon must not mint one again.
  const born = Date.now().toString(36);
  return {
    sources: {
      peers: () => roster.peers(),
      ask: async (peer: string, ask: Ask<"hold">, tried: readonly string[]) => {
        const asked = await exchange.ask(peer, "hold", ask, windows.askMs, triedHeader(tried));
        if (asked.outcome === "absent") roster.absent(peer);
        if (asked.outcome === "silent") roster.silent(peer);
        return asked;
      },
      release: async (peer: string, launch: LaunchRef, hold: string) => {
        await exchange.ask(peer, "release", { launch, hold }, windows.askMs);
      },
      whoHasRoom: async (type: string) => {
        const asked = await exchange.request(roomSubject(type, node), {}, roomAnswerSchema, windows.askMs);
        return asked.outcome === "answered" ? asked.answer.node : undefined;
      },
      pauseMs: () => windows.busyMinMs + Math.random() * (windows.busyMaxMs - windows.busyMinMs),
      mintHold: (peer: string) => `${node}-${born}-${(minted++).toString(36)}-${peer}`,
    },
    commit: async (peer, ask) => {
      const asked = await exchange.ask(peer, "commit", ask, windows.commitMs);
      return asked.outcome === "answered" ? asked.answer : undefined;
    },
    undo: async (peer, ask) => void (await exchange.ask(peer, "undo", ask, windows.commitMs)),
  };
}
