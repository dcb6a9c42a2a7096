// What can be measured: something that answers calls on a port of this machine.
import { type Call, callRequest, type Endpoint, openSession } from '../load/client-requests.ts';
import type { LoadRequest } from '../load/load-job.ts';

export interface Target extends Endpoint {
  /** The processes under test, servers behind them left out; none where they are not ours to know. */
  pids(): readonly number[];
  /** Who calls; `[undefined]` where nobody signs in. */
  readonly tokens: readonly (string | undefined)[];
  /** Of tools' names there. */
  readonly prefix?: string;
  stop(): Promise<void>;
}

/** Each of a caller of its own. */
const SESSIONS = 64;

/** One request a caller, to be sent over and over; in sessions of their own where the era has them. */
export async function requestsFor(target: Target, call: Call, sessions = SESSIONS): Promise<LoadRequest[]> {
  if (call.era === 'modern') {
    return target.tokens.map((token, index) => requestOf(target, call, { token, session: undefined, index }));
  }
  return Promise.all(
    Array.from({ length: sessions }, async (_, index) => {
      const token = target.tokens[index % target.tokens.length];
      return requestOf(target, call, { token, session: await openSession(target, token), index });
    }),
  );
}

function requestOf(
  { port, path, prefix = '' }: Target,
  call: Call,
  { token, session, index }: { token: string | undefined; session: string | undefined; index: number },
): LoadRequest {
  return callRequest(call, { port, path, caller: { token, session }, id: String(index + 1), prefix });
}
