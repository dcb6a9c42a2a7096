// A request that concerns every server of a view.
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { ClientAt } from './route-on-view.ts';
import type { View } from './view.ts';

export interface CallForAll {
  readonly request: ClientRequest;
  readonly view: View;
  readonly clientAt: ClientAt;
  readonly session: LegacySession | undefined;
  readonly signal: StopSignal;
}
