// The last lines of the log, at the end of the process.
import type { Logger } from './logger.ts';

/** Whether all that was logged has been taken within `withinMs`; what nobody reads never is. */
export async function flushLog(logger: Logger, withinMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const late = setTimeout(() => resolve(false), withinMs);
  // A pipe cannot be synced to a disk, which is the one error that there is; its bytes are out by then.
  logger.flush(() => resolve(true));
  const flushed = await promise;
  clearTimeout(late);
  return flushed;
}
