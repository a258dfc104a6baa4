// A time-out that reads before it judges.
//
// A process that was kept off its core, or was frozen, finds its timers due and its socket full at the same moment,
// and Node looks at timers first. What came in time must not count as silence, so the verdict waits for one more turn
// of the loop: `setImmediate` runs after the sockets were read. Without it 64 gateways on two cores took each other's
// waiting for a dead connection, dialled anew, and were all the slower for it.

/** @returns how to call it off */
export function afterSilence(ms: number, verdict: () => void): () => void {
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    reading = setImmediate(verdict);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(reading);
  };
}
