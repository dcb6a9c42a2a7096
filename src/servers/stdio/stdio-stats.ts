// What one wire to a child process counts.
import type { InboxStats } from './stdio-inbox.ts';

export interface StdioStats extends InboxStats {
  readonly stderrLines: number;
  /** Calls that wait for a slot now. */
  readonly queued: number;
  /** Calls that had to wait so far, and how long in all. */
  readonly queueWaits: number;
  readonly queueWaitMs: number;
}
