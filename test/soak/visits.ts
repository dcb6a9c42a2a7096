// Clients that arrive, make some calls, several at a time, and leave: in good order, or without a word.
import { setTimeout as delay } from 'node:timers/promises';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { askBack, CALLS, resume } from './checked-calls.ts';
import { type Ledger, SESSION_UNKNOWN } from './ledger.ts';
import type { Person } from './people.ts';

/** One server as clients see it. */
export interface SoakView {
  readonly url: string;
  /** What can be asked of it by either kind of client. */
  readonly calls: readonly (keyof typeof CALLS)[];
  /** Whether a stream of a legacy client can be lost in the middle: the server reports progress at once. */
  readonly resumes: boolean;
  /** Whether the server asks the client: only with no other call in the session is it plain which one asks. */
  readonly asks: boolean;
}

/** Visits one after the other until told to end. */
export async function visitUntil(
  signal: AbortSignal,
  { views, comers }: { views: readonly SoakView[]; comers: Iterator<Person, never> },
  ledger: Ledger,
): Promise<void> {
  while (!signal.aborted) {
    const view = oneOf(views);
    const person = comers.next().value;
    try {
      if (Math.random() < 0.5) await modernVisit(view, person, ledger);
      else await legacyVisit(view, person, ledger);
      ledger.visited(person);
    } catch (thrown) {
      ledger.fault(`a visit broke off: ${String(thrown)}`);
    }
    await delay(20 + Math.random() * 80);
  }
}

async function modernVisit({ url, calls }: SoakView, person: Person, ledger: Ledger): Promise<void> {
  await using client = new ModernClient(url, { headers: person.headers });
  await makeCalls(() => CALLS[oneOf(calls)](client, ledger, person));
}

async function legacyVisit(view: SoakView, person: Person, ledger: Ledger): Promise<void> {
  const session = await arrive(view.url, person, ledger);
  if (session === undefined) return;
  try {
    if (view.asks) await askBack(session, ledger);
    const listening = Math.random() < 0.3 ? await session.listen() : undefined;
    await makeCalls(() => {
      const resumes = view.resumes && Math.random() < 0.2;
      return resumes ? resume(session, ledger) : CALLS[oneOf(view.calls)](session, ledger, person);
    });
    // Half of them say goodbye, as clients do.
    const status = Math.random() < 0.5 ? await session.delete() : 204;
    if (status === 404) ledger.failed(SESSION_UNKNOWN);
    else if (status !== 204) ledger.fault(`DELETE was refused with ${status}`);
    listening?.abort();
  } finally {
    await session[Symbol.asyncDispose]();
  }
}

/** Undefined where the gateway is full or the server is down just now. */
async function arrive(url: string, { headers }: Person, ledger: Ledger): Promise<RawSession | undefined> {
  try {
    return await openSession(url, { headers, capabilities: { elicitation: {} } });
  } catch (thrown) {
    const code = /"code":(50[234]0)\b/.exec(String(thrown))?.[1];
    if (code === undefined) throw thrown;
    ledger.failed(Number(code));
    return undefined;
  }
}

async function makeCalls(call: () => Promise<void>): Promise<void> {
  for (let round = 0; round < 1 + Math.random() * 4; round += 1) {
    await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 3) }, call));
  }
}

function oneOf<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)] as T;
}
