// One modern client's call to a legacy server that may ask something: the upstream call runs on while exchanges come
// and go. Each question ends the exchange at hand with `input_required`; the retry takes its place.
import { GatewayError } from '../../errors.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import {
  isSameId,
  type JsonRpcId,
  type JsonRpcOutcome,
  type JsonRpcRequest,
} from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { CallDeadline } from '../../servers/call-deadline.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { missingCapability } from '../client-features.ts';
import { answers, modernQuestion, type Question } from '../crossings/input-required.ts';
import { relatedTask, withRelatedTask } from '../crossings/related-task.ts';
import { hasRoomFor, questionBytes } from '../question-limits.ts';
import { isOver, nextParkedState, type ParkedEvent, type ParkedState } from './parked-state.ts';

/** The exchange that a call is attached to while it is open. */
export interface AttachedExchange {
  /** Aborts when its client leaves. */
  readonly signal: StopSignal;
  send(message: ServerMessage): void;
  /** The server's answer. */
  respond(outcome: JsonRpcOutcome): void;
  /** `round` is what the sealed state is to say. */
  requireInput(inputRequests: JsonObject, round: number): void;
}

export interface ParkedCallOptions {
  readonly id: string;
  /** What a retry must repeat: principal, server, method, params. */
  readonly fingerprint: string;
  readonly principal: string;
  /** What was declared to the server on behalf of the client. */
  readonly declared: JsonObject;
  /** Where the call runs, and its questions are answered. */
  readonly link: ServerLink;
  readonly parkTimeoutMs: number;
  /** Asked before each parking. */
  mayPark(call: ParkedCall): boolean;
  onStateChanged(call: ParkedCall): void;
}

interface OpenQuestion extends Question {
  readonly upstreamId: JsonRpcId;
  /** Answers belong to the task that asks. */
  readonly task: string | undefined;
  readonly bytes: number;
  /** False until it has been put to the client. */
  asked: boolean;
}

const GATHER_MS = 20;

type Ending = { readonly outcome: JsonRpcOutcome } | { readonly failure: unknown };

export class ParkedCall {
  readonly id: string;
  readonly fingerprint: string;
  readonly principal: string;
  readonly declared: JsonObject;
  readonly link: ServerLink;
  /** Cancels the call at the server. */
  readonly upstream = new AbortController();
  #clock: Pick<CallDeadline, 'pause' | 'resume'> | undefined;
  /** The server's own id of the task that it runs the call as. */
  task: string | undefined;
  /** Set once a question was refused for a capability that the client did not declare. */
  missing: JsonObject | undefined;
  readonly #options: ParkedCallOptions;
  readonly #questions = new Map<string, OpenQuestion>();
  #state: ParkedState = 'open';
  #exchange: AttachedExchange | undefined;
  #detached = Promise.withResolvers<void>();
  #ending: Ending | undefined;
  #round = 0;
  #nextKey = 1;
  #gathering = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ParkedCallOptions) {
    this.id = options.id;
    this.fingerprint = options.fingerprint;
    this.principal = options.principal;
    this.declared = options.declared;
    this.link = options.link;
    this.#options = options;
  }

  get state(): ParkedState {
    return this.#state;
  }

  /** Of the request that the server has now; it stands still while the call is parked. */
  set clock(clock: Pick<CallDeadline, 'pause' | 'resume'>) {
    this.#clock = clock;
    if (this.#state === 'parked' || this.#state === 'withdrawn') clock.pause();
  }

  get round(): number {
    return this.#round;
  }

  /**
   * Makes `exchange` the one that hears of the call. Resolves when it has had its answer, be it the server's or a
   * question.
   *
   * @throws what the call failed with, or the exchange's abort reason
   */
  async attach(exchange: AttachedExchange): Promise<void> {
    this.#exchange = exchange;
    this.#detached = Promise.withResolvers();
    const onAbort = () => this.cancel(exchange.signal.reason);
    exchange.signal.addEventListener('abort', onAbort);
    if (exchange.signal.aborted) onAbort();
    else this.#advance();
    try {
      await this.#detached.promise;
    } finally {
      exchange.signal.removeEventListener('abort', onAbort);
    }
  }

  /** The retry: hands its answers to the server, then goes on as before. What is missing is asked again. */
  resume(exchange: AttachedExchange, inputResponses: JsonObject): Promise<void> {
    this.#move('resume');
    clearTimeout(this.#timer);
    this.#clock?.resume();
    for (const [key, question] of this.#questions) {
      const response = Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
      if (!question.asked || !isJsonObject(response) || !answers(question, response)) continue;
      this.#questions.delete(key);
      const result = question.task === undefined ? response : withRelatedTask(response, question.task);
      void this.link.respond(question.upstreamId, { result });
    }
    return this.attach(exchange);
  }

  /** A question that belongs to this call. Refused at once where the client did not declare what it needs. */
  ask(request: JsonRpcRequest): void {
    const { id, method, params } = request;
    const missing = missingCapability(request, this.declared);
    if (missing !== undefined) {
      this.missing = missing.required;
      const code = missing.code === 'mode' ? INVALID_PARAMS : METHOD_NOT_FOUND;
      const error = { code, message: `The client did not declare what ${method} needs` };
      void this.link.respond(id, { error });
      return;
    }
    const bytes = questionBytes(params);
    if (!hasRoomFor(this.#questions.values(), bytes)) {
      const error = { code: METHOD_NOT_FOUND, message: 'The call has too many questions open' };
      void this.link.respond(id, { error });
      return;
    }
    const task = relatedTask(request);
    this.#questions.set(`q${this.#nextKey++}`, { upstreamId: id, method, params, bytes, task, asked: false });
    this.#scheduleAdvance();
  }

  /** The server took a question back: its answer, should it come, is not wanted. */
  withdraw(upstreamId: JsonRpcId): void {
    for (const [key, question] of this.#questions) {
      if (isSameId(question.upstreamId, upstreamId)) this.#questions.delete(key);
    }
    if (this.#questions.size === 0 && this.#state === 'parked') this.#move('withdraw');
  }

  /** Progress and the like. Dropped while parked: the exchange that it was for is over. */
  deliver(message: ServerMessage): void {
    this.#exchange?.send(message);
  }

  finish(outcome: JsonRpcOutcome): void {
    this.#ending = { outcome };
    this.#advance();
  }

  fail(failure: unknown): void {
    this.#ending ??= { failure };
    this.#advance();
  }

  cancel(reason: unknown): void {
    if (isOver(this.#state)) return;
    this.#move('cancel');
    this.#end(reason);
  }

  /** Questions that a server puts side by side are asked side by side, though its pipe brings them one by one. */
  #scheduleAdvance(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    setTimeout(() => {
      this.#gathering = false;
      this.#advance();
    }, GATHER_MS);
  }

  /** Does what the attached exchange is waiting for, if there is anything to do. */
  #advance(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    if (this.#ending !== undefined) this.#answer(exchange, this.#ending);
    else if (this.#questions.size > 0 && !this.#gathering) this.#park(exchange);
  }

  #answer(exchange: AttachedExchange, ending: Ending): void {
    this.#move('answer');
    this.#exchange = undefined;
    clearTimeout(this.#timer);
    if ('failure' in ending) {
      this.#detached.reject(ending.failure);
      return;
    }
    try {
      exchange.respond(ending.outcome);
      this.#detached.resolve();
    } catch (thrown) {
      this.#detached.reject(thrown);
    }
  }

  #park(exchange: AttachedExchange): void {
    if (!this.#options.mayPark(this)) {
      this.#exchange = undefined;
      this.#move('cancel');
      this.#end(new GatewayError('no-capacity', { reason: 'parked', retryAfterMs: 10_000 }));
      return;
    }
    this.#round += 1;
    const inputRequests: JsonObject = {};
    for (const [key, question] of this.#questions) {
      question.asked = true;
      inputRequests[key] = modernQuestion(question);
    }
    this.#exchange = undefined;
    this.#move('park');
    this.#clock?.pause();
    this.#timer = setTimeout(() => this.#expire(), this.#options.parkTimeoutMs);
    exchange.requireInput(inputRequests, this.#round);
    this.#detached.resolve();
  }

  #expire(): void {
    this.#move('expire');
    this.#end(new GatewayError('deadline-passed', { reason: 'parked' }));
  }

  /** Ends the call at the server too; whoever is attached is told why. */
  #end(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#exchange = undefined;
    this.#questions.clear();
    this.upstream.abort(reason);
    this.#detached.reject(reason);
    // Nobody may be attached while a call is parked.
    this.#detached.promise.catch(() => {});
  }

  #move(event: ParkedEvent): void {
    const next = nextParkedState(this.#state, event);
    if (next === undefined) throw new Error(`a call that is ${this.#state} cannot ${event}`);
    this.#state = next;
    this.#options.onStateChanged(this);
  }
}
