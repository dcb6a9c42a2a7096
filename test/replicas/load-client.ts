// A client that calls without a pause and notes what became of each call.
import { setTimeout as delay } from 'node:timers/promises';
import type { Message, RawExchange } from '../support/raw-client.ts';
import { ModernClient, openSession, RawSession, textOf } from '../support/raw-session.ts';

export type CallingKind = 'modern' | 'web session' | 'own child';

/**
 * `answered`: once, by its id, with its own text. `lost`: the connection ended without a response. `failed`: answered
 * with an error of a server that is away. `unknown session`: 404. `wrong`: anything else, a second response included.
 */
export type Fate = 'answered' | 'lost' | 'failed' | 'unknown session' | 'wrong';

export interface NotedCall {
  readonly id: string;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly fate: Fate;
  /** What came, where it was wrong. */
  readonly told?: string;
  /** Whether it was on its way when the replica was killed. */
  readonly underWay?: boolean;
}

export interface LoadClientOptions {
  readonly kind: CallingKind;
  readonly name: string;
  /** Of the balancer. */
  readonly url: string;
  /** Its session is the killed replica's. */
  readonly isOwned: boolean;
}

/** Every other call takes a while, so that some are always on their way. */
const LONG_CALL_MS = 60;
const PAUSE_MS = 10;
const SERVER_AWAY = 5020;

export class LoadClient {
  readonly kind: CallingKind;
  readonly isOwned: boolean;
  readonly calls: NotedCall[] = [];
  initializedAgain = 0;
  readonly #name: string;
  readonly #url: string;
  #client: ModernClient | RawSession;

  constructor({ kind, name, url, isOwned }: LoadClientOptions) {
    this.kind = kind;
    this.isOwned = isOwned;
    this.#name = name;
    this.#url = url;
    this.#client = new ModernClient(url);
  }

  /** Opens its session, if its kind has one, at that URL; from then on it asks the balancer. */
  async enter(url: string): Promise<void> {
    if (this.kind === 'modern') return;
    await using opened = await openSession(url);
    await opened.tool('echo', { text: `${this.#name} has entered` });
    const session = new RawSession(this.#url);
    session.id = opened.id;
    session.version = opened.version;
    this.#client = session;
  }

  async callOn(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const { fate } = await this.#call(`${this.#name}-${this.calls.length}`);
      if (fate === 'unknown session') {
        this.initializedAgain += 1;
        await this.#client[Symbol.asyncDispose]();
        this.#client = await openSession(this.#url);
      }
      await delay(PAUSE_MS);
    }
  }

  async #call(text: string): Promise<NotedCall> {
    const beganAt = performance.now();
    const isLong = this.calls.length % 2 === 0;
    const name = isLong ? 'wait' : 'echo';
    const args = isLong ? { ms: LONG_CALL_MS, text } : { text };
    const id = JSON.stringify(text);
    const exchange = this.#client.start('tools/call', { name, arguments: args }, { id });
    const { fate, told } = await fateOf(exchange, { id: text, says: isLong ? 'waited' : text });
    const endedAt = performance.now();
    const call = { id: text, beganAt, endedAt, fate, ...(told === undefined ? {} : { told }) };
    this.calls.push(call);
    return call;
  }

  async close(): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}

async function fateOf(
  exchange: RawExchange,
  expected: { readonly id: string; readonly says: string },
): Promise<Pick<NotedCall, 'fate' | 'told'>> {
  let messages: Message[];
  let status: number;
  try {
    const answer = await exchange.answer;
    status = answer.status;
    // To the very end, for a second response would come behind the first.
    messages = answer.isStream ? await answer.messages() : [await answer.json()];
  } catch {
    return { fate: 'lost' };
  }
  const responses = messages.filter(({ method }) => method === undefined);
  const [response] = responses;
  const told = `${status} ${JSON.stringify(messages)}`;
  if (response === undefined) return { fate: 'lost' };
  if (status === 404 && response.error?.code === 4040) return { fate: 'unknown session' };
  if (responses.length > 1 || response.id !== expected.id) return { fate: 'wrong', told };
  if (response.error?.code === SERVER_AWAY) return { fate: 'failed', told };
  return response.result !== undefined && textOf(response) === expected.says
    ? { fate: 'answered' }
    : { fate: 'wrong', told };
}
