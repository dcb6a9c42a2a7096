// Durations as the config writes them: `250ms`, `30s`, `5m`, `1h`.

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Node's timers fire at once beyond 2^31-1 ms; 24 days stay below that. */
export const MAX_DURATION_MS = 24 * 24 * UNITS_MS.h;

/** Milliseconds, or undefined where the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Math.round(Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS]);
}
