// Hands messages to other replicas over HTTP, and reads the frames of their answers. Says exactly one of three things:
// there is an answer; nothing was done over there; nobody knows what was done.
import { type Dispatcher, errors } from 'undici';
import { GatewayError } from '../errors.ts';
import { abortSignalOf, type StopSignal } from '../runtime/stop.ts';
import type { BufferBudget } from '../state/buffer-budget.ts';
import { CLOCK_TOLERANCE_MS, type SealedEnvelope, SIGNATURE_HEADER, sealEnvelope } from './envelope.ts';
import { readLines } from './read-lines.ts';
import { ReplicaConnections } from './replica-connections.ts';
import type { ReplicaKeys } from './replica-keys.ts';
import {
  type ForwardedExchange,
  type LiveReplica,
  ReplicaRefusal,
  ReplicaUnreachable,
  type ReplyFrame,
} from './replicas.ts';
import { readFrame, TAKEN } from './reply-frames.ts';
import { SignedLines } from './signed-lines.ts';

export interface ReplicaClientOptions {
  /** The id of this replica. */
  readonly self: string;
  readonly keys: Pick<ReplicaKeys, 'envelope' | 'answer'>;
  readonly ca?: string | undefined;
  readonly budget: BufferBudget;
  /** Longest line of an answer. */
  maxFrameBytes(): number;
  readonly timing?: Partial<ReplicaTiming>;
}

export interface ReplicaTiming {
  readonly connectTimeoutMs: number;
  readonly silenceMs: number;
}

/** Of three heartbeats in a row two may be lost (DEFAULT_HTTP_TIMING). */
const DEFAULT_REPLICA_TIMING: ReplicaTiming = { connectTimeoutMs: 1_000, silenceMs: 45_000 };

export const EXCHANGE_PATH = '/exchange';
/** The replica is there, and has no room for the message. */
export const NO_ROOM_STATUS = 429;
/** The replica is there, and cannot take this message: too large for it, of another version, of another time. */
export const NOT_TAKEN_STATUS = 422;

const LINE_END = Buffer.from('\n');
const MAX_REFUSAL_BYTES = 64 * 1024;

type Answer = Dispatcher.ResponseData;

export class ReplicaClient {
  readonly #options: ReplicaClientOptions;
  readonly #connections: ReplicaConnections;

  constructor(options: ReplicaClientOptions) {
    this.#options = options;
    const timing = { ...DEFAULT_REPLICA_TIMING, ...options.timing };
    this.#connections = new ReplicaConnections({ ...timing, ca: options.ca });
  }

  /** As `Replicas.forward`. */
  async forward(
    to: Pick<LiveReplica, 'id' | 'url'>,
    sent: ForwardedExchange,
    signal: StopSignal,
  ): Promise<AsyncIterable<ReplyFrame>> {
    const { self, keys } = this.#options;
    const route = { from: self, to: to.id, key: keys.envelope, now: Date.now() };
    const envelope = sealEnvelope(sent, route);
    const dispatcher = this.#connections.to(to.url, sent.httpMethod === 'GET' ? 'streams' : 'calls');
    const first = await this.#attempt(dispatcher, envelope, { body: sent.body, signal });
    if (first.kind === 'answered') return this.#frames(first, signal);
    if (first.kind === 'refused') {
      if (first.isThere) throw new ReplicaRefusal(first.cause.message);
      throw new ReplicaUnreachable('the replica took nothing over', first.cause);
    }
    if (first.kind === 'unclear' && isSilence(first.cause)) throw lost(first.cause);
    // The same envelope again: where it was taken after all, it is not taken twice.
    const second = await this.#attempt(dispatcher, envelope, { body: sent.body, signal });
    if (second.kind === 'answered') return this.#frames(second, signal);
    if (first.kind === 'unsent' && second.kind !== 'unclear') {
      throw new ReplicaUnreachable('the replica cannot be reached', second.cause);
    }
    throw lost(second.cause);
  }

  /** Lets go of the connections to all others, once what runs on them has ended. */
  keepOnly(urls: ReadonlySet<string>): void {
    this.#connections.keepOnly(urls);
  }

  /** Breaks whatever is still open. Idempotent. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  async #attempt(
    dispatcher: Dispatcher,
    envelope: SealedEnvelope,
    { body, signal }: { body: Buffer; signal: StopSignal },
  ): Promise<Attempt> {
    let isSent = false;
    // Asked for its first bytes when there is a connection to write them to, and not before.
    function* bytes() {
      isSent = true;
      yield envelope.line;
      yield LINE_END;
      if (body.length > 0) yield body;
    }
    let answer: Answer;
    try {
      answer = await dispatcher.request({
        method: 'POST',
        path: EXCHANGE_PATH,
        headers: {
          [SIGNATURE_HEADER]: envelope.signature,
          'content-length': String(envelope.line.length + 1 + body.length),
        },
        body: bytes() as unknown as Buffer,
        signal: abortSignalOf(signal),
      });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      return { kind: isSent ? 'unclear' : 'unsent', cause };
    }
    return this.#judge(answer, envelope, signal);
  }

  /** Whoever signs no first line is not the replica that was meant, or has not taken the message over. */
  async #judge(
    { statusCode, headers, body }: Answer,
    { nonce }: SealedEnvelope,
    signal: StopSignal,
  ): Promise<Attempt> {
    if (statusCode !== 200) {
      await body.dump({ limit: MAX_REFUSAL_BYTES }).catch(() => {});
      if (statusCode === NO_ROOM_STATUS) throw new GatewayError('no-capacity', { reason: 'buffers_full' });
      const cause = new Error(refusalText(statusCode, Date.parse(String(headers.date)) - Date.now()));
      return { kind: 'refused', cause, isThere: statusCode === NOT_TAKEN_STATUS };
    }
    const { budget, keys, maxFrameBytes } = this.#options;
    const lines = readLines(body, { maxLineBytes: maxFrameBytes(), hold: budget.open() });
    try {
      const first = await lines.next();
      if (first.done) return { kind: 'unclear', cause: new Error('the answer ended before it began') };
      const signed = new SignedLines(keys.answer, nonce);
      if (signed.open(first.value) === TAKEN) return { kind: 'answered', lines, signed };
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      return { kind: 'unclear', cause };
    }
    await lines.return();
    const cause = new Error('whoever answered does not know the secret');
    return { kind: 'refused', cause, isThere: false };
  }

  async *#frames({ lines, signed }: Answered, signal: StopSignal): AsyncGenerator<ReplyFrame, void> {
    let isComplete = false;
    try {
      for await (const line of lines) {
        const text = signed.open(line);
        if (text === undefined) throw new TypeError('a line of the answer is not as it was signed');
        const frame = readFrame(text);
        if (frame === undefined) throw new TypeError('the answer says what this version does not know');
        isComplete = 'record' in frame;
        yield frame;
      }
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw lost(cause);
    }
    if (!isComplete) throw lost(new Error('the answer ended too soon'));
  }
}

interface Answered {
  readonly kind: 'answered';
  readonly lines: AsyncGenerator<string, void>;
  readonly signed: SignedLines;
}

type Attempt =
  | Answered
  /** Not one byte of it has left. */
  | { readonly kind: 'unsent'; readonly cause: unknown }
  /** It was there, and was not taken: not the first time, at any rate. */
  | { readonly kind: 'refused'; readonly cause: Error; readonly isThere: boolean }
  | { readonly kind: 'unclear'; readonly cause: unknown };

/** What does not answer will not answer the next one either. */
function isSilence(cause: unknown): boolean {
  return cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError;
}

/** It says nothing about why, but every answer tells the time. @param aheadMs how far its clock is ahead of ours */
function refusalText(status: number, aheadMs: number): string {
  // Its time is in whole seconds.
  if (status !== NOT_TAKEN_STATUS || !(Math.abs(aheadMs) >= CLOCK_TOLERANCE_MS - 1_000))
    return `the replica answered ${status}`;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return `its clock is ${seconds} s ${where} the one here: keep the clocks of all replicas in step (NTP)`;
}

function lost(cause: unknown): GatewayError {
  return new GatewayError('server-unavailable', { reason: 'replica_lost', cause });
}
