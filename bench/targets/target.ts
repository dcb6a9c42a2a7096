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
const AT_A_TIME = 16;

/** One request a caller, to be sent over and over; in sessions of their own where the era has them. */
export async function requestsFor(target: Target, call: Call, sessions = SESSIONS): Promise<LoadRequest[]> {
  if (call.era === 'modern') {
    return target.tokens.map((token, index) => requestOf(target, call, { token, session: undefined, index }));
  }
  const requests: LoadRequest[] = [];
  while (requests.length < sessions) {
    const batch = Array.from(
      { length: Math.min(AT_A_TIME, sessions - requests.length) },
      async (_, place) => {
        const index = requests.length + place;
        const token = target.tokens[index % target.tokens.length];
        return requestOf(target, call, { token, session: await openSession(target, token), index });
      },
    );
    requests.push(...(await Promise.all(batch)));
  }
  return requests;
}

function requestOf(
  { port, path, prefix = '' }: Target,
  call: Call,
  { token, session, index }: { token: string | undefined; session: string | undefined; index: number },
): LoadRequest {
  return callRequest(call, { port, path, caller: { token, session }, id: String(index + 1), prefix });
}
