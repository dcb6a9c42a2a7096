// A listen that has been acknowledged: it holds no more than it takes to hear, since thousands may stand for days.
import type { StopSignal } from '../../runtime/stop.ts';

export interface StandingListen {
  /** Aborts when the link has gone that it hears from; undefined where it is heard whatever becomes of links. */
  readonly linkGone: StopSignal | undefined;
  /** Hears no more. To be called once. @returns a promise where that takes its time */
  close(): Promise<void> | undefined;
}
