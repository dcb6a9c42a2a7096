// A client of either era that does a list of things, in order or all at once, and believes nothing: every answer,
// report of progress and question has to be one that it asked for itself.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RawAnswer } from './raw-answer.ts';
import type { Members, Message, RawExchange } from './raw-client.ts';
import { ModernClient, openSession, type RawSession } from './raw-session.ts';

export type Step =
  | { readonly what: 'echo' | 'list' | 'log' | 'listen' | 'crash' }
  | { readonly what: 'progress'; readonly reports: number }
  /** The call is given up after so many milliseconds, in the way of the client's era. */
  | { readonly what: 'give up'; readonly afterMs: number; readonly asking: boolean }
  | {
      readonly what: 'ask';
      readonly reply: 'accept' | 'decline' | 'forget' | 'answer twice';
      readonly feature: 'elicitation' | 'sampling';
    };

export interface Program {
  readonly era: 'legacy' | 'modern';
  /** Whether it can be asked anything. */
  readonly features: boolean;
  /** Legacy: whether it opens a GET stream. */
  readonly listens: boolean;
  readonly together: boolean;
  readonly steps: readonly Step[];
}

export interface FuzzTarget {
  readonly url: string;
  /** The era of the server behind. */
  readonly era: 'legacy' | 'modern';
  /** Whether the server may go away at any time, by somebody's hand. */
  readonly fragile: boolean;
  crash(client: RawSession | ModernClient): Promise<void>;
}

const CAPABILITIES = { elicitation: {}, sampling: {} };
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const LOGGED = 'notifications/message';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
/** Not available; no capacity; the state of a call that is over. */
const EXCUSED = new Set([5020, 5030, -32602]);
/** Questions are as many texts as there are calls that ask. */
const askedText = () => `question ${randomUUID()}`;

export async function runProgram(target: FuzzTarget, program: Program): Promise<void> {
  await using client =
    program.era === 'legacy' ? await legacyClient(target, program) : modernClient(target, program);
  const act = async (step: Step) => client?.act(step);
  if (program.together) await Promise.all(program.steps.map(act));
  else for (const step of program.steps) await act(step);
}

interface FuzzedClient extends AsyncDisposable {
  act(step: Step): Promise<void>;
}

interface Asked {
  readonly text: string;
  readonly mark: string;
  readonly reply: Extract<Step, { what: 'ask' }>['reply'] | 'nothing';
  readonly feature: Extract<Step, { what: 'ask' }>['feature'];
  questions: number;
}

function newQuestion(reply: Asked['reply'], feature: Asked['feature'] = 'elicitation'): Asked {
  return { text: askedText(), mark: randomUUID(), reply, feature, questions: 0 };
}

/** The call of a tool that asks, in the era of the server. */
function askingCall({ era }: FuzzTarget, { text, feature }: Asked): Members {
  // A member of nobody's tells whose question it is, also where no message is shown.
  const question =
    feature === 'elicitation'
      ? { method: 'elicitation/create', params: { message: text, requestedSchema: {} } }
      : { method: 'sampling/createMessage', params: { message: text, messages: [], maxTokens: 1 } };
  return era === 'legacy'
    ? { name: 'ask', arguments: question }
    : { name: 'rounds', arguments: { rounds: [{ q: question }] } };
}

function answerTo({ reply, mark, feature }: Asked): Members {
  if (feature === 'sampling')
    return { role: 'assistant', model: mark, content: { type: 'text', text: mark } };
  return reply === 'decline'
    ? { action: 'decline', content: { mark } }
    : { action: 'accept', content: { mark } };
}

interface AnswerTerms {
  readonly target: FuzzTarget;
  /** There may have been no stream to ask on that belonged to this call alone. */
  readonly mayBeRefused: boolean;
}

/** The answer to a call that asked is what this client itself said. */
function assertAnswered(
  { result, error }: Message,
  asked: Asked,
  { target, mayBeRefused }: AnswerTerms,
): void {
  if (error !== undefined) {
    assertExcused(error, target);
    return;
  }
  const text = textOf(result);
  const refused = mayBeRefused && text.includes('-32601');
  assert.ok(text.includes(asked.mark) || refused, `not the answer to ${asked.text}: ${text}`);
}

function assertExcused(error: NonNullable<Message['error']>, { fragile }: FuzzTarget): void {
  assert.ok(fragile && EXCUSED.has(error.code), `an error that nothing explains: ${JSON.stringify(error)}`);
}

function textOf(result: Members | undefined): string {
  return String(((result?.content ?? []) as { text?: string }[])[0]?.text);
}

interface StepTerms {
  readonly target: FuzzTarget;
  readonly id: string;
  /** All that this client has logged so far. */
  readonly lines: Set<unknown>;
}

/** Echo, list and progress are alike in both eras: one exchange, nobody is asked. */
async function plainStep(
  client: RawSession | ModernClient,
  step: Step,
  { target, id, lines }: StepTerms,
): Promise<void> {
  if (step.what === 'list') {
    const { result, error } = await client.ask('tools/list', {}, { id });
    if (error) return assertExcused(error, target);
    assert.ok(Array.isArray(result?.tools) && result.tools.length > 0);
  } else if (step.what === 'log') {
    await loggedStep(client, { target, id, lines });
  } else if (step.what === 'crash') {
    await target.crash(client);
  } else if (step.what === 'progress') {
    await reportedStep(client, step.reports, { target, id });
  } else {
    const text = randomUUID();
    const answer = await client.ask('tools/call', { name: 'echo', arguments: { text } }, { id });
    assert.equal(answer.id, JSON.parse(id));
    if (answer.error) return assertExcused(answer.error, target);
    assert.equal(textOf(answer.result), text);
  }
}

/** Logs a line; whatever lines come with the answer have to be of this client. */
async function loggedStep(
  client: RawSession | ModernClient,
  { target, id, lines }: StepTerms,
): Promise<void> {
  const data = randomUUID();
  lines.add(data);
  const meta = client instanceof ModernClient ? { [LOG_LEVEL]: 'debug' } : {};
  const call = client.start('tools/call', { name: 'log', arguments: { data } }, { id, meta });
  const { response, before } = await (await call.answer).whole();
  for (const message of before) assertOwnLine(message, lines);
  if (response.error) return assertExcused(response.error, target);
  assert.equal(textOf(response.result), 'logged');
}

function assertOwnLine({ method, params }: Message, lines: ReadonlySet<unknown>): void {
  if (method === LOGGED) assert.ok(lines.has(params?.data), `somebody else's line: ${params?.data}`);
}

async function reportedStep(
  client: RawSession | ModernClient,
  reports: number,
  { target, id }: { target: FuzzTarget; id: string },
): Promise<void> {
  const values = Array.from({ length: reports }, (_, index) => index + 1);
  const params = { name: 'progress', arguments: { values, steps: reports } };
  const meta = { progressToken: JSON.parse(id) };
  const { response, before } = await (await client.start('tools/call', params, { id, meta }).answer).whole();
  const seen = before.filter(({ method }) => method === 'notifications/progress');
  for (const { params: said } of seen) assert.equal(said?.progressToken, JSON.parse(id));
  if (response.error) return assertExcused(response.error, target);
  assert.deepEqual(
    seen.map(({ params: said }) => said?.progress),
    values,
  );
}

/** Sends a call and gives it up; whatever came until then has to be its own. */
async function giveUp(exchange: RawExchange, afterMs: number): Promise<void> {
  await delay(afterMs);
  exchange.abort();
  await exchange.closed;
}

function modernClient(target: FuzzTarget, { features }: Program): FuzzedClient {
  const client = new ModernClient(target.url, { capabilities: features ? CAPABILITIES : {} });
  // Everybody counts alike: ids collide between clients on purpose.
  let lastId = 0;
  const nextId = () => String(++lastId);
  const lines = new Set<unknown>();

  /** Acknowledged under its own id, and left again. */
  async function listen(): Promise<void> {
    const id = nextId();
    const notifications = { toolsListChanged: true };
    const exchange = client.start('subscriptions/listen', { notifications }, { id });
    const answer = await exchange.answer;
    // What fails before anything was said is answered as JSON.
    const first = answer.isStream ? await answer.message() : await answer.json();
    if (first?.error) assertExcused(first.error, target);
    else assert.equal((first?.params?._meta as Members | undefined)?.[SUBSCRIPTION], Number(id));
    exchange.abort();
    await exchange.closed;
  }

  async function ask(asked: Asked): Promise<void> {
    const call = askingCall(target, asked);
    const first = await client.ask('tools/call', call, { id: nextId() });
    if (first.result?.resultType !== 'input_required') {
      if (!features) return;
      assert.ok(first.error !== undefined, `it was not asked: ${JSON.stringify(first)}`);
      assertExcused(first.error, target);
      return;
    }
    const { inputRequests, requestState } = first.result;
    const [[key = '', question] = []] = Object.entries(inputRequests as Record<string, Message>);
    assert.equal(question?.params?.message, asked.text, 'somebody else was meant');
    if (asked.reply === 'forget') return;
    const retry = { ...call, requestState, inputResponses: { [key]: answerTo(asked) } };
    const answer = await client.ask('tools/call', retry, { id: nextId() });
    assertAnswered(answer, asked, { target, mayBeRefused: false });
    if (asked.reply !== 'answer twice') return;
    // A server of the new era decides by itself how often a state is good.
    const again = await client.ask('tools/call', retry, { id: nextId() });
    if (target.era === 'legacy') assert.equal(again.error?.code, -32602);
  }

  return {
    async act(step) {
      if (step.what === 'ask') return ask(newQuestion(step.reply, step.feature));
      if (step.what === 'listen') return listen();
      if (step.what !== 'give up') return plainStep(client, step, { target, id: nextId(), lines });
      const call = step.asking
        ? askingCall(target, newQuestion('nothing'))
        : { name: 'never', arguments: {} };
      await giveUp(client.start('tools/call', call, { id: nextId() }), step.afterMs);
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

async function legacyClient(target: FuzzTarget, program: Program): Promise<FuzzedClient | undefined> {
  const opened = await openSession(target.url, program.features ? { capabilities: CAPABILITIES } : {}).catch(
    (refused: Error) => refused,
  );
  if (opened instanceof Error) {
    assert.ok(target.fragile, opened.message);
    return undefined;
  }
  const session = opened;
  const asked = new Map<unknown, Asked>();
  const lines = new Set<unknown>();
  const listener = program.listens ? await session.listen() : undefined;
  const listening = listener && hearAll(listener);
  let lastId = 0;
  const nextId = () => String(++lastId);

  /** Every request of a server has to be a question that one of this session's own calls asks, put once. */
  async function hear(message: Message): Promise<void> {
    const { id, method, params } = message;
    assertOwnLine(message, lines);
    if (method === undefined || id === undefined) return;
    const own = asked.get(params?.message);
    assert.ok(own !== undefined, `somebody else was meant: ${JSON.stringify(params)}`);
    own.questions += 1;
    assert.equal(own.questions, 1, 'a question was put twice');
    if (own.reply === 'forget' || own.reply === 'nothing') return;
    await session.respond(id, { result: answerTo(own) });
    if (own.reply === 'answer twice') await session.respond(id, { result: { action: 'cancel' } });
  }

  async function hearAll(answer: RawAnswer): Promise<Message | undefined> {
    for (let message = await answer.message(); message !== undefined; message = await answer.message()) {
      if (message.method === undefined) return message;
      await hear(message);
    }
    return undefined;
  }

  async function finish(exchange: RawExchange): Promise<Message | undefined> {
    const answer = await exchange.answer;
    return answer.isStream ? hearAll(answer) : answer.json();
  }

  async function ask(own: Asked): Promise<void> {
    asked.set(own.text, own);
    const id = nextId();
    const exchange = session.start('tools/call', askingCall(target, own), { id });
    if (own.reply === 'forget') return giveUp(exchange, 20);
    const response = await finish(exchange);
    assert.equal(response?.id, Number(id));
    if (response.error && !program.features) return;
    assertAnswered(response, own, { target, mayBeRefused: !program.features || !program.listens });
  }

  /** Subscribes to a resource, and half of the time gives it up again. */
  async function subscribe(): Promise<void> {
    const uri = 'test://one';
    const id = nextId();
    for (const method of [
      'resources/subscribe',
      ...(Number(id) % 2 === 0 ? ['resources/unsubscribe'] : []),
    ]) {
      const { error } = await session.ask(method, { uri }, { id: nextId() });
      if (error) assertExcused(error, target);
    }
  }

  async function cancel(step: Extract<Step, { what: 'give up' }>): Promise<void> {
    const own = newQuestion('nothing');
    asked.set(own.text, own);
    const id = nextId();
    const call = step.asking ? askingCall(target, own) : { name: 'never', arguments: {} };
    const exchange = session.start('tools/call', call, { id });
    await delay(step.afterMs);
    await session.notify('notifications/cancelled', { requestId: Number(id) });
    const answer = await exchange.answer;
    // It may have been answered before, with a refusal.
    if (answer.isStream) await hearAll(answer);
    else await answer.text();
  }

  return {
    async act(step) {
      if (step.what === 'ask') await ask(newQuestion(step.reply, step.feature));
      else if (step.what === 'give up') await cancel(step);
      else if (step.what === 'listen') await subscribe();
      else await plainStep(session, step, { target, id: nextId(), lines });
    },
    async [Symbol.asyncDispose]() {
      await session.delete();
      await listening;
      await session[Symbol.asyncDispose]();
    },
  };
}
