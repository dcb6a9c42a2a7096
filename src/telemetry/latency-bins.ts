// Durations counted in bins, each half an octave wide: 1 ms to 2 min in a few numbers, quantiles within that of the
// truth. Pure.

/** Below 1 ms, then half octaves; the last has no end. */
export const LATENCY_BINS = 35;
const LAST = LATENCY_BINS - 1;

export function binOf(durationMs: number): number {
  if (!(durationMs >= 1)) return 0;
  return Math.min(LAST, 1 + Math.floor(2 * Math.log2(durationMs)));
}

export function countIn(bins: Uint32Array): number {
  let count = 0;
  for (let bin = 0; bin < bins.length; bin += 1) count += bins[bin] ?? 0;
  return count;
}

/** Within a bin, durations are taken to lie evenly. Null where nothing was counted. */
export function quantileOf(bins: Uint32Array, quantile: number): number | null {
  const count = countIn(bins);
  if (count === 0) return null;
  const rank = quantile * count;
  let below = 0;
  for (let bin = 0; bin < LAST; bin += 1) {
    const here = bins[bin] ?? 0;
    if (here > 0 && below + here >= rank) return rounded(within(bin, (rank - below) / here));
    below += here;
  }
  return rounded(startOf(LAST));
}

function within(bin: number, share: number): number {
  const start = startOf(bin);
  return start + (startOf(bin + 1) - start) * share;
}

/** Where a bin begins, in milliseconds. */
function startOf(bin: number): number {
  return bin === 0 ? 0 : 2 ** ((bin - 1) / 2);
}

function rounded(milliseconds: number): number {
  return milliseconds < 10 ? Math.round(milliseconds * 10) / 10 : Math.round(milliseconds);
}
