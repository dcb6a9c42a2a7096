/** Runs a task once fewer than the limit are running, in the order in which they came. */
export type Limit = <T>(task: () => Promise<T>) => Promise<T>;

export function limitTo(max: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // A waiting task takes over the place of this one.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
