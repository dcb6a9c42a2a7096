// Hands an exchange to the replica where what it needs lives, and repeats what that replica answers on the client's own
// reply. There is one hop at most: what was handed over is not handed on.
import type { CallOutput, StreamSink } from '../bridge/call-output.ts';
import { GatewayError } from '../errors.ts';
import type { TraceContext } from '../protocol/trace-context.ts';
import { forwardedHeaders } from '../replicas/forwarded-headers.ts';
import {
  type ForwardedExchange,
  type ForwardedRecord,
  ReplicaRefusal,
  type Replicas,
  ReplicaUnreachable,
  type ReplyFrame,
} from '../replicas/replicas.ts';
import { anySignal, type StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { sealCredentials } from './handed-credentials.ts';
import { handedTrace } from './traced-exchange.ts';

/** Where an answer is repeated. The exchange's own reply is one. */
export interface RepeatedReply extends Pick<StreamSink, 'openStream' | 'send' | 'respond' | 'end'> {
  setHeader(name: string, value: string): void;
  accept(status?: 202 | 204): void;
}

export interface Forward {
  /** The id of the replica. */
  readonly to: string;
  readonly kind: 'permitted' | 'undecided';
  /** Nobody else can do it: that one that is there does not take it is no reason to go on without it. */
  readonly onlyThere?: boolean;
  /** Ends it over there too; the end of this gateway does in any case. */
  readonly signal?: StopSignal;
  /** What it may be about; some of them may have to be signed in to with what only the caller's token gets. */
  readonly servers?: readonly Server[];
  /** What is sent in place of what the client sent. */
  readonly instead?: Partial<Pick<ForwardedExchange, 'view' | 'headers' | 'body'>>;
  /** In place of the exchange's own. */
  readonly reply?: RepeatedReply;
  /**
   * The client may leave, and what it asked for goes on, as the calls of sessions do: the other replica is told, and
   * the end is waited for, which belongs on record.
   */
  readonly outlivesClient?: boolean;
}

type LastFrame = Extract<
  ReplyFrame,
  { respond: unknown } | { fail: unknown } | { accept: unknown } | { end: unknown }
>;

const NO_BODY = Buffer.alloc(0);
const LEFT_TIMEOUT_MS = 5_000;
/** Of the second that there is for last words. */
const STAYS_TIMEOUT_MS = 500;

/**
 * Resolves when the answer has been repeated to its end, and the record knows what came of it.
 *
 * @throws ReplicaUnreachable where nothing was done over there
 * @throws GatewayError as the other replica failed, or was lost; or the signal's reason
 */
export async function forwardExchange(
  gateway: GatewayContext,
  exchange: Exchange,
  forward: Forward,
): Promise<void> {
  const { replicas, ending } = gateway;
  if (replicas === undefined || exchange.forwarded !== undefined) throw new Error('nothing may be handed on');
  const { to, servers = [] } = forward;
  const credentials = await sealCredentials(gateway, exchange, { to, servers });
  const trace = handedTrace(gateway, exchange.record);
  const sent = messageOf(exchange, forward, { credentials: credentials.sealed, trace });
  const cut = new AbortController();
  const signal = anySignal([ending, cut.signal, ...(forward.signal === undefined ? [] : [forward.signal])]);
  const isDraining = () => ending.aborted && signal.reason === ending.reason;
  const failure = (thrown: unknown) => {
    if (isDraining()) return new GatewayError('draining');
    return signal.aborted ? signal.reason : thrown;
  };
  const frames = await replicas.forward(to, sent, signal).catch((thrown: unknown) => {
    throw failure(thrown);
  });
  const reply = forward.reply ?? exchange.reply;
  const stopTelling = forward.outlivesClient
    ? tellWhenLeft(exchange.clientGone, () => tellLeft(replicas, to, sent, cut))
    : undefined;
  // The record comes last, and has to be there when the answer ends: then it is written.
  let last: LastFrame | undefined;
  let resumable = false;
  try {
    for await (const frame of frames) {
      if ('record' in frame) noteRecord(exchange.record, frame.record);
      else if (isLast(frame)) last = frame;
      else await repeat(reply, frame);
      resumable ||= hasEventId(frame);
    }
  } catch (thrown) {
    // What came last is all that matters to the client; one that can come back for the rest by another way does so.
    if (last === undefined) {
      const isLeft =
        isDraining() && forward.outlivesClient && resumable && (await goesOn(replicas, to, sent));
      if (!isLeft) throw failure(thrown);
      exchange.record.outcome = 'draining';
      last = { end: true };
    }
  } finally {
    stopTelling?.();
  }
  if (exchange.record.outcome === 'credential-refused') credentials.forget();
  if (last === undefined) throw new GatewayError('server-unavailable', { reason: 'replica_lost' });
  finish(reply, last);
}

/**
 * The same, for what can be done here as well.
 *
 * @returns false where nobody could be asked
 * @throws GatewayError server-unavailable where only one could, and did not take it
 */
export async function tryForward(
  gateway: GatewayContext,
  exchange: Exchange,
  forward: Forward,
): Promise<boolean> {
  try {
    await forwardExchange(gateway, exchange, forward);
    return true;
  } catch (thrown) {
    if (thrown instanceof ReplicaRefusal && forward.onlyThere) {
      throw new GatewayError('server-unavailable', { reason: 'replica_refused', cause: thrown });
    }
    if (thrown instanceof ReplicaUnreachable) return false;
    throw thrown;
  }
}

/** Repeats an answer on the output of a call, which has no say in statuses and headers. */
export function repeatedOn(output: CallOutput, openStream: () => void): RepeatedReply {
  return {
    setHeader() {},
    openStream,
    send: (message) => output.send(message),
    respond: (idText, outcome, { status = 200 } = {}) => output.respond(idText, outcome, status),
    accept: () => output.end(),
    end: () => output.end(),
  };
}

function messageOf(
  exchange: Exchange,
  { kind, instead }: Forward,
  { credentials, trace }: { credentials: string | undefined; trace: TraceContext | undefined },
): ForwardedExchange {
  const { id, httpMethod, view, principal, arrival, body } = exchange;
  // Its own say of the trace is read, and our span comes in between.
  const {
    traceparent: _,
    tracestate: _state,
    baggage: _baggage,
    ...headers
  } = forwardedHeaders(exchange.headers);
  return {
    kind,
    id,
    httpMethod,
    view,
    headers: { ...headers, ...trace },
    principal,
    address: arrival.address,
    body,
    credentials,
    ...instead,
  };
}

function isLast(frame: ReplyFrame): frame is LastFrame {
  return 'respond' in frame || 'fail' in frame || 'accept' in frame || 'end' in frame;
}

function hasEventId(frame: ReplyFrame): boolean {
  if ('open' in frame) return frame.open.primingEventId !== undefined;
  return 'send' in frame && frame.send.eventId !== undefined;
}

function repeat(reply: RepeatedReply, frame: ReplyFrame): Promise<void> | undefined {
  if ('header' in frame) reply.setHeader(...frame.header);
  else if ('open' in frame) reply.openStream(frame.open.primingEventId);
  else if ('send' in frame) return reply.send(frame.send.message, frame.send.eventId);
  return undefined;
}

/** @throws GatewayError as the other replica failed */
function finish(reply: RepeatedReply, frame: LastFrame): void {
  if ('fail' in frame) throw new GatewayError(frame.fail.code, frame.fail.details);
  if ('accept' in frame) reply.accept(frame.accept);
  else if ('end' in frame) reply.end();
  else {
    const { idText, outcome, status, eventId } = frame.respond;
    reply.respond(idText, outcome, {
      ...(status === undefined ? {} : { status }),
      ...(eventId === undefined ? {} : { eventId }),
    });
  }
}

function noteRecord(record: ExchangeRecord, learned: ForwardedRecord): void {
  Object.assign(
    record,
    Object.fromEntries(Object.entries(learned).filter(([, value]) => value !== undefined)),
  );
}

function tellWhenLeft(clientGone: StopSignal, tell: () => void): () => void {
  if (clientGone.aborted) tell();
  else clientGone.addEventListener('abort', tell);
  return () => clientGone.removeEventListener('abort', tell);
}

/** Where that cannot be told, the connection that ends says it. */
function tellLeft(replicas: Replicas, to: string, sent: ForwardedExchange, cut: AbortController): void {
  const lost = new GatewayError('server-unavailable', { reason: 'replica_lost' });
  sayLeft(replicas, to, sent, LEFT_TIMEOUT_MS).catch(() => cut.abort(lost));
}

/** Whether there is something to come back for: where both end, the client has to hear that its call has failed. */
function goesOn(replicas: Replicas, to: string, sent: ForwardedExchange): Promise<boolean> {
  return sayLeft(replicas, to, sent, STAYS_TIMEOUT_MS).catch(() => false);
}

/** @returns whether the home stays; rejects where nobody knows */
async function sayLeft(
  replicas: Replicas,
  to: string,
  sent: ForwardedExchange,
  timeoutMs: number,
): Promise<boolean> {
  const left: ForwardedExchange = { ...sent, kind: 'left', body: NO_BODY };
  const answer = await replicas.forward(to, left, AbortSignal.timeout(timeoutMs));
  let stays = true;
  for await (const frame of answer) {
    if (!('fail' in frame)) continue;
    if (frame.fail.code !== 'draining') throw new GatewayError(frame.fail.code);
    stays = false;
  }
  return stays;
}
