/** @param latencies in any order; they are not changed */
export function quantilesOf(latencies: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}
