// Samples: taking them in turn, and what is read off them.

/** @param share 0.5 for the median, 0.99 for the 99th percentile; nearest rank */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Least squares through the median at each x: one slow sample does not tilt the line. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const medians = [...Map.groupBy(points, ({ x }) => x)].map(([x, at]) => ({
    x,
    y: median(at.map(({ y }) => y)),
  }));
  const meanX = medians.reduce((sum, { x }) => sum + x, 0) / medians.length;
  const meanY = medians.reduce((sum, { y }) => sum + y, 0) / medians.length;
  const rise = medians.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const run = medians.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return rise / run;
}

/** Milliseconds that `work` took, with what it returned. */
export async function timed<T>(work: () => T | Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

/** Runs `round` `rounds` times, or until `withinMs` is over: a slow machine measures less often, not longer. */
export async function repeat(
  { rounds, withinMs }: { rounds: number; withinMs: number },
  round: (at: number) => Promise<void>,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let at = 0; at < rounds && performance.now() < end; at++) await round(at);
}
