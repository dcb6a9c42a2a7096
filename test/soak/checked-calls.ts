// Calls that know what their answer must be. Every one has the same id and the same progress token as all others, so
// that whatever tells them apart is Portico's own.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RawAnswer } from '../support/raw-answer.ts';
import type { Members, Message, RawExchange } from '../support/raw-client.ts';
import { ModernClient, type RawSession, textOf } from '../support/raw-session.ts';
import { type Ledger, SESSION_UNKNOWN } from './ledger.ts';
import type { Person } from './people.ts';

export type SoakClient = ModernClient | RawSession;

/** A call that is silent for longer is lost. */
const PATIENCE_MS = 30_000;
const ID = '"same for all"';
const TOKEN = 'same for all';

let lastStep = 0;

async function echo(client: SoakClient, ledger: Ledger): Promise<void> {
  const text = randomUUID();
  await expectAnswer(startTool(client, 'echo', { text }), ledger, { what: 'echo', text });
}

async function big(client: SoakClient, ledger: Ledger): Promise<void> {
  const bytes = 50_000 + Math.floor(Math.random() * 200_000);
  await expectAnswer(startTool(client, 'big', { bytes }), ledger, { what: 'big', text: 'x'.repeat(bytes) });
}

/** Progress values are nobody else's: one that strays shows. */
async function progress(client: SoakClient, ledger: Ledger): Promise<void> {
  const values = [1, 2, 3].map((step) => lastStep + step);
  lastStep += 3;
  const call = startTool(client, 'progress', { values });
  await expectAnswer(call, ledger, { what: 'progress', text: 'done', values });
}

/** Asks a process that is one person's alone who it is; nobody else may ever have seen it. */
async function whose(client: SoakClient, ledger: Ledger, person: Person): Promise<void> {
  const call = startTool(client, 'environment', {});
  await expectAnswer(call, ledger, {
    what: 'whose',
    isRight(text) {
      const { env } = JSON.parse(text) as { env: { HOME: string } };
      const other = ledger.residents.see(env.HOME, person);
      return other === undefined && env.HOME !== process.env.HOME;
    },
  });
}

/** Leaves in the middle of a call that would take long. */
async function cancel(client: SoakClient, ledger: Ledger): Promise<void> {
  // Of its own, since of several with one id Portico can but take the newest for the one that is meant.
  const requestId = randomUUID();
  const id = JSON.stringify(requestId);
  const call = client.start('tools/call', { name: 'wait', arguments: { ms: 5_000 } }, { id });
  await delay(10 + Math.random() * 40);
  if (!(client instanceof ModernClient)) await client.notify('notifications/cancelled', { requestId });
  call.abort();
  await call.closed;
  ledger.cancelled += 1;
}

/** What either kind of client can ask for, by name. */
export const CALLS = { echo, big, progress, whose, cancel } as const;

/** Loses its connection after the first event, and asks for the rest. */
export async function resume(client: RawSession, ledger: Ledger): Promise<void> {
  const values = [1, 2, 3].map((step) => lastStep + step);
  lastStep += 3;
  const call = startTool(client, 'progress', { values });
  const first = await call.answer;
  // A failure before the first event is JSON, and there is nothing to resume.
  if (!first.isStream) return expectAnswer(call, ledger, { what: 'resume', text: 'done', values });
  const event = await first.event();
  first.abort();
  await call.closed;
  if (event?.id === undefined) {
    ledger.fault('resume: the stream began without an event id');
    return;
  }
  const seen = event.data === '' ? [] : progressOf([JSON.parse(event.data) as Message]);
  const rest = await client.listen(event.id);
  if (rest.status === 404) {
    ledger.failed(SESSION_UNKNOWN);
    return;
  }
  if (rest.status !== 200) {
    ledger.fault(`resume: refused with ${rest.status}`);
    return;
  }
  ledger.resumed += 1;
  await hold(rest, ledger, { what: 'resume', text: 'done', values, seen });
}

/** A question of the server comes by the call's own stream, and its answer goes back to the call that asked. */
export async function askBack(client: RawSession, ledger: Ledger): Promise<void> {
  const message = randomUUID();
  const params = { message, requestedSchema: { type: 'object', properties: {} } };
  const call = startTool(client, 'ask', { method: 'elicitation/create', params });
  const text = JSON.stringify({ action: 'accept', content: { message } });
  await expectAnswer(call, ledger, {
    what: 'ask',
    text,
    async onQuestion(question) {
      if (question.params?.message !== message) ledger.fault('ask: somebody else was meant');
      await client.respond(question.id, { result: JSON.parse(text) as Members });
    },
  });
}

function startTool(client: SoakClient, name: string, args: Members): RawExchange {
  return client.start('tools/call', { name, arguments: args }, { id: ID, meta: { progressToken: TOKEN } });
}

export interface Expected {
  readonly what: string;
  readonly text?: string;
  /** In place of `text`. */
  isRight?(text: string): boolean;
  /** The progress that is to be reported, in order. */
  readonly values?: readonly number[];
  /** What of it was heard before the connection was lost. */
  readonly seen?: readonly number[];
  onQuestion?(question: Message): Promise<void>;
}

async function expectAnswer(call: RawExchange, ledger: Ledger, expected: Expected): Promise<void> {
  try {
    await hold(await call.answer, ledger, expected);
  } catch (thrown) {
    ledger.fault(`${expected.what}: the connection broke: ${String(thrown)}`);
  }
}

/** Reads an answer to the end of its stream, and holds it to what was expected. */
async function hold(answer: RawAnswer, ledger: Ledger, expected: Expected): Promise<void> {
  const { what } = expected;
  const late = setTimeout(() => {
    ledger.fault(`${what}: no answer within ${PATIENCE_MS / 1000} s`);
    answer.abort();
  }, PATIENCE_MS);
  try {
    const messages = answer.isStream ? await readStream(answer, expected) : [await answer.json()];
    judge(messages, ledger, expected);
  } finally {
    clearTimeout(late);
  }
}

/** Everything but the server's questions, which are answered on the way. */
async function readStream(answer: RawAnswer, { onQuestion }: Expected): Promise<Message[]> {
  const messages: Message[] = [];
  for (let next = await answer.message(); next !== undefined; next = await answer.message()) {
    if (next.method !== undefined && next.id !== undefined) await onQuestion?.(next);
    else messages.push(next);
  }
  return messages;
}

function judge(messages: readonly Message[], ledger: Ledger, expected: Expected): void {
  const responses = messages.filter(({ method }) => method === undefined);
  const [response] = responses;
  const fault = faultOf(responses, progressOf(messages), expected);
  if (fault !== undefined) ledger.fault(`${expected.what}: ${fault}`);
  else if (response?.error !== undefined) ledger.error(expected.what, response.error);
  else ledger.answered += 1;
}

function faultOf(
  [response, ...more]: readonly Message[],
  progress: readonly number[],
  { text, isRight = (answered) => answered === text, values, seen = [] }: Expected,
): string | undefined {
  if (response === undefined) return 'the answer is lost';
  if (more.length > 0) return `answered ${more.length + 1} times`;
  if (JSON.stringify(response.id) !== ID) return 'the id is not its own';
  if (response.error !== undefined) return undefined;
  if (!isRight(textOf(response))) return "the answer is someone else's";
  const heard = [...seen, ...progress];
  if (values === undefined || heard.join() === values.join()) return undefined;
  return `progress ${heard.join()} in place of ${values.join()}`;
}

function progressOf(messages: readonly Message[]): number[] {
  return messages
    .filter(({ method, params }) => method === 'notifications/progress' && params?.progressToken === TOKEN)
    .map(({ params }) => Number(params?.progress));
}
