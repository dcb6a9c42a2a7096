// A listen that has been acknowledged: it holds no more than it takes to hear, since thousands may stand for days.
import type { StopSignal } from '../../runtime/stop.ts';

export interface StandingListen {
  /**
   * Resolves when its link has gone, and its client has been told to listen again. To be called, and once.
   *
   * @throws the signal's reason
   */
  untilOver(signal: StopSignal): Promise<void>;
}
