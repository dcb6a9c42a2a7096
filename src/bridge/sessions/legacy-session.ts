// One legacy session at run time: its calls in flight, its streams, the questions that servers have asked its client,
// and the link that is its own. The record of it (state/session-store) outlives the process one day; this does not.
import { randomBytes } from 'node:crypto';
import type { ServerConfig } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { viewNames } from '../../federation/merged-list.ts';
import type { ViewNames } from '../../federation/public-messages.ts';
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import {
  type JsonRpcId,
  type JsonRpcNotification,
  type JsonRpcOutcome,
  readExactId,
} from '../../protocol/json-rpc.ts';
import { FleetingMap } from '../../runtime/fleeting-map.ts';
import { Stop, type StopSignal } from '../../runtime/stop.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { BufferBudget } from '../../state/buffer-budget.ts';
import type { SessionRecord, SessionState } from '../../state/session-store.ts';
import type { StreamSink } from '../call-output.ts';
import { CoalescedChanges } from '../listening/coalesced-changes.ts';
import { publicMessage } from '../public-output.ts';
import type { SealedState } from '../seals/sealed-state.ts';
import { KeptState } from './kept-state.ts';
import { OpenQuestions, type QuestionOrigin, type ServerQuestion } from './open-questions.ts';
import { type SessionCall, SessionCalls, type StartingCall } from './session-calls.ts';
import { type EventStream, type ReplayLimits, SessionStreams } from './session-streams.ts';
import { SessionSubscriptions } from './session-subscriptions.ts';
import { SessionTasks } from './session-tasks.ts';
import { WaitingQuestions } from './waiting-questions.ts';

export interface LegacySessionOptions {
  readonly replay: ReplayLimits;
  /** What is kept for replay is part of it. */
  readonly budget: BufferBudget;
  /** How long a question that names no call waits for a stream that it could go out on. */
  readonly questionPatienceMs: number;
  readonly state: SealedState;
  /** Keeps what a successor needs; undefined where there could be none. */
  readonly save?: ((key: string, state: SessionState) => Promise<void>) | undefined;
}

const EPOCH_BYTES = 9;
/** A server that asks without end must not fill the gateway. */
const MAX_QUESTIONS = 100;

const ENDED_TEXT = 'The session ended before the server had answered; send initialize to start a new one';

export class LegacySession {
  readonly key: string;
  readonly record: SessionRecord;
  readonly streams: SessionStreams;
  readonly questions = new OpenQuestions();
  readonly kept: KeptState;
  /** Its server is another one now, which knows nothing of it: calls in flight come to their end, new ones are refused. */
  leaving = false;
  /** The servers on which it may have a link of its own. */
  readonly servers = new Set<Server>();
  /** The servers that its caller may use now, by slug; all until a request has said. The newest one decides. */
  usable: Pick<ReadonlySet<string>, 'has'> | undefined;
  /** The same, and undefined where the view is one server's and speaks its words. */
  viewServers: Pick<ReadonlySet<string>, 'has'> | undefined;
  /** Aborts at the session's end, whatever ended it. */
  readonly ended = new Stop();
  readonly #waiting: WaitingQuestions;
  readonly #state: SealedState;
  readonly #tasks = new FleetingMap<string, SessionTasks>();
  readonly #subscriptions = new FleetingMap<string, SessionSubscriptions>();
  readonly #changes = new CoalescedChanges((method) => this.#tellChange(method));
  readonly #calls = new SessionCalls();
  /** What belongs to no call; held, bounded, while no GET stream is open. */
  readonly #standalone: EventStream;

  constructor(
    key: string,
    record: SessionRecord,
    { questionPatienceMs, replay, budget, state, save }: LegacySessionOptions,
    inherited?: SessionState,
  ) {
    this.key = key;
    this.record = record;
    this.#state = state;
    this.kept = new KeptState({
      key,
      principal: record.principal,
      seals: state,
      inherited,
      save: save && ((changed) => save(key, changed)),
    });
    const epoch = inherited === undefined ? '' : `${randomBytes(EPOCH_BYTES).toString('base64url')}.`;
    this.streams = new SessionStreams(replay, budget, epoch);
    this.#waiting = new WaitingQuestions(questionPatienceMs);
    this.#standalone = this.streams.open({ holds: true });
  }

  /** False until `notifications/initialized`: no request and no list change goes out before (F15). */
  get initialized(): boolean {
    return this.kept.state.initialized;
  }

  set initialized(initialized: boolean) {
    if (initialized !== this.initialized) this.kept.note({ initialized });
  }

  get logLevel(): string | undefined {
    return this.kept.state.logLevel;
  }

  set logLevel(logLevel: string | undefined) {
    if (logLevel !== this.logLevel) this.kept.note({ logLevel });
  }

  get busy(): boolean {
    return this.#calls.size > 0 || this.#standalone.attached;
  }

  /** Questions that its client has, or is to get. */
  get pendingQuestions(): number {
    return this.questions.size + this.#waiting.size;
  }

  get standalone(): EventStream {
    return this.#standalone;
  }

  get calling(): boolean {
    return this.#calls.size > 0;
  }

  /** The ids of one server's tasks. */
  tasksOf(server: string): SessionTasks {
    const { principal } = this.record;
    const tasks = this.#tasks.get(server) ?? new SessionTasks(this.#state, { principal, server });
    this.#tasks.set(server, tasks);
    return tasks;
  }

  /** Its resource subscriptions on a modern server; a legacy server keeps them itself, with the session's link. */
  subscriptionsOf(server: string): SessionSubscriptions {
    const subscriptions = this.#subscriptions.get(server) ?? new SessionSubscriptions();
    this.#subscriptions.set(server, subscriptions);
    return subscriptions;
  }

  /** What it is subscribed to may have changed. */
  noteSubscriptions(): void {
    const uris = this.#subscriptions
      .entries()
      .map(([slug, subscriptions]) => [slug, subscriptions.uris] as const);
    const subscriptions = Object.fromEntries(uris.filter(([, { length }]) => length > 0));
    this.kept.note({ subscriptions });
  }

  /** A link of its own is open. */
  noteLink(server: ServerConfig, link: ServerLink): void {
    const { upstreamSession } = link;
    if (upstreamSession !== undefined) this.kept.noteUpstream(server, upstreamSession);
  }

  /** Servers have been replaced: nothing is held open at those that were. */
  moveSubscriptions(successorOf: (server: Server) => Server | undefined): void {
    for (const subscriptions of this.#subscriptions.values()) subscriptions.moveTo(successorOf);
  }

  /** How a server's messages are to be told; undefined where they go out as they are. */
  namesOf(server: string): ViewNames | undefined {
    return this.viewServers === undefined ? undefined : viewNames(server);
  }

  startCall(starting: StartingCall): SessionCall {
    const call = this.#calls.start(starting);
    if (this.ended.aborted) call.stop.abort(this.ended.reason);
    this.#retryWaiting();
    return call;
  }

  /** The call waits for the result of a task: what the server asks for its sake is asked there. */
  awaitTask(call: SessionCall, task: string): void {
    call.task = task;
    this.#retryWaiting();
  }

  finishCall(call: SessionCall): void {
    this.#calls.finish(call);
    this.#retryWaiting();
  }

  /** The client opened, or opened again, the stream for what belongs to no call; the newest connection has it. */
  attachStandalone(sink: StreamSink, gone: StopSignal): void {
    const { droppedThrough, writtenThrough } = this.#standalone;
    this.#standalone.resume(sink, gone, Math.max(droppedThrough, writtenThrough));
    this.#retryWaiting();
  }

  /**
   * Takes a broken stream up again after the event that the client saw last.
   *
   * @returns false where no such stream, or not all of the rest of it, is here
   */
  resume(lastEventId: string, sink: StreamSink, gone: StopSignal): boolean {
    const found = this.streams.find(lastEventId);
    if (found === undefined) return false;
    found.stream.resume(sink, gone, found.after);
    this.#retryWaiting();
    return true;
  }

  /** The client takes a call back. */
  cancel(idText: string, reason: string | undefined): void {
    this.#calls.cancel(idText, reason);
  }

  /**
   * A message of a server, or of Portico itself, that names no call: the stream of the sole open call there, else the
   * GET stream.
   */
  deliver(server: string | undefined, said: JsonRpcNotification): void {
    // It may go on talking where its caller may not use it any more.
    if (server !== undefined && this.usable?.has(server) === false) return;
    const names = server === undefined ? undefined : this.namesOf(server);
    const message = names === undefined ? said : publicMessage(said, names);
    if (message.method.endsWith('list_changed')) {
      if (this.viewServers !== undefined) this.#changes.note(message.method);
      else if (this.initialized) void this.#standalone.send(message);
      return;
    }
    // Progress that its wire ties to no call carries a token of ours, which means nothing to the client (F22).
    if (message.method === 'notifications/progress') return;
    const [sole, ...others] = this.#calls.at(server);
    const isOfCall = message.method === 'notifications/message' && others.length === 0;
    const stream = (isOfCall ? sole?.stream : undefined) ?? this.#standalone;
    void stream.send(message);
  }

  #tellChange(method: string): void {
    if (this.initialized) void this.#standalone.send({ jsonrpc: '2.0', method });
  }

  /**
   * A server's request to the client, under an id of ours, on the stream that it belongs to: that of the call which
   * its wire names, else of the one that waits for its task, else of that server's only call that may ask, else an open GET
   * stream, but for a server that the client may not use any more: that has its calls in flight alone. Without any, it
   * waits for a while.
   *
   * @param refuse tells the server that its question will not be answered, and why
   */
  ask(
    question: ServerQuestion,
    origin: QuestionOrigin,
    { stream, refuse }: { stream: EventStream | undefined; refuse: (why: string) => void },
  ): void {
    if (this.pendingQuestions >= MAX_QUESTIONS) {
      refuse('The client has too many questions open');
      return;
    }
    const where = stream?.carriesEvents ? stream : this.#streamFor(question);
    const nowhere = 'The client has no open stream to be asked on';
    if (where !== undefined) this.#askOn(where, question, origin);
    else if (stream !== undefined || this.usable?.has(question.server) === false) refuse(nowhere);
    else this.#waiting.add(question, origin, () => refuse(nowhere));
  }

  #askOn(stream: EventStream, question: ServerQuestion, origin: QuestionOrigin): void {
    const id = this.questions.open(question, origin, stream);
    this.#calls.extendClockOf(stream);
    void stream.send({ ...question.request, id });
  }

  #streamFor({ task, server }: ServerQuestion): EventStream | undefined {
    const calls = this.#calls.at(server);
    const waiting = task === undefined ? undefined : calls.find((call) => call.task === task);
    if (waiting?.stream.carriesEvents) return waiting.stream;
    const [sole, ...others] = calls.filter(({ mayAsk }) => mayAsk);
    if (others.length === 0 && sole?.stream.carriesEvents) return sole.stream;
    return this.#standalone.attached && this.usable?.has(server) !== false ? this.#standalone : undefined;
  }

  /** A call, or a stream, came or went. */
  #retryWaiting(): void {
    this.#waiting.retry((question, origin) => {
      const stream = this.#streamFor(question);
      if (stream !== undefined) this.#askOn(stream, question, origin);
      return stream !== undefined;
    });
  }

  /** The server takes a question back: the client is told under the id that it knows. */
  withdraw(cancelled: JsonRpcNotification, origin: QuestionOrigin): void {
    const upstreamId = readExactId(cancelled.params?.requestId);
    if (upstreamId === undefined) return;
    this.#waiting.withdraw(upstreamId, origin);
    const withdrawn = this.questions.withdraw(upstreamId, origin);
    if (withdrawn === undefined) return;
    void withdrawn.stream.send({ ...cancelled, params: { ...cancelled.params, requestId: withdrawn.id } });
  }

  /** The client answered; an answer to a question that is no longer open is dropped. */
  answer(id: JsonRpcId, outcome: JsonRpcOutcome): void {
    const stream = this.questions.answer(id, outcome);
    if (stream !== undefined) this.#calls.extendClockOf(stream);
  }

  /** Calls in flight are cancelled at their servers, and each is answered with an error on its own stream. */
  end(): void {
    if (this.ended.aborted) return;
    const over = new GatewayError('session-unknown', { reason: 'session-ended', text: ENDED_TEXT });
    this.ended.abort(over);
    this.#calls.abort(over);
    this.#waiting.close();
    this.#changes.close();
    this.questions.refuseAll({ code: METHOD_NOT_FOUND, message: 'The client is gone' });
    this.streams.close();
  }
}
