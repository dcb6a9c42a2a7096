// The listener for other replicas. It takes what they hand over, signed, and says nothing to anybody else. An exchange
// from there goes down the same line as a client's own; its answer goes back as frames.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { callerOf } from '../access/caller-of.ts';
import type { ReplicaConfig } from '../config/replica-config.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { Exchange, ForwardedFrom } from '../pipeline/exchange.ts';
import { readTraceContext } from '../protocol/trace-context.ts';
import { CLOCK_TOLERANCE_MS, MAX_ENVELOPE_BYTES } from '../replicas/envelope.ts';
import { RecentNonces } from '../replicas/recent-nonces.ts';
import { NO_ROOM_STATUS, NOT_TAKEN_STATUS } from '../replicas/replica-client.ts';
import type { ReplicaKeys } from '../replicas/replica-keys.ts';
import { TAKEN } from '../replicas/reply-frames.ts';
import { SignedLines } from '../replicas/signed-lines.ts';
import { Roster } from '../runtime/roster.ts';
import { NEVER, Stop, type StopSignal } from '../runtime/stop.ts';
import { BufferBudget } from '../state/buffer-budget.ts';
import { type ExchangeRecord, newRecord } from '../telemetry/exchange-record.ts';
import type { Logger } from '../telemetry/logger.ts';
import { readAccept } from './accept-header.ts';
import { answerEarly } from './early-answer.ts';
import { FramedReply } from './framed-reply.ts';
import { createHttpListener } from './http-listener.ts';
import { DEFAULT_HTTP_TIMING, type HttpTiming } from './http-timing.ts';
import { KeepAliveComments } from './keep-alive-comments.ts';
import { type HandedOver, type HandOverFault, readHandedOver } from './read-handed-over.ts';
import { reportFailure } from './report-failure.ts';
import type { SignIn } from './sign-in.ts';

export interface ReplicaServerOptions {
  readonly listen: ReplicaConfig['listen'];
  /** The id of this replica. */
  readonly self: string;
  readonly keys: Pick<ReplicaKeys, 'envelope' | 'answer'>;
  readonly logger: Logger;
  readonly budget: BufferBudget;
  /** Of what holds now. */
  bodyLimitBytes(): number;
  /** What callers sign in with, as of now: it ends their streams. */
  signIn(): Pick<SignIn, 'watch'> | undefined;
  handleExchange(exchange: Exchange): Promise<void>;
  /** Once for each exchange, when its answer is complete or nobody waits for it any more. */
  onSettled(record: ExchangeRecord, forwarded: ForwardedFrom): void;
  /** Once for each request that was not taken. */
  onRefused(fault: HandOverFault): void;
  readonly timing?: Partial<HttpTiming>;
}

export interface ReplicaServer {
  /** @returns the URLs it listens on */
  listen(): Promise<readonly string[]>;
  /** Takes nothing more, ends what is open, gives last bytes a moment. Idempotent. */
  close(): Promise<void>;
  /** Exchanges whose answer is not complete yet. */
  readonly openReplies: number;
}

/** Of all first lines that are being read: who has signed nothing shall not take the room of all clients. */
const MAX_UNSIGNED_BYTES = 16 * MAX_ENVELOPE_BYTES;
const REFUSED = '{"error":"This listener is for other replicas of the gateway"}';
const NOT_TAKEN = { status: NOT_TAKEN_STATUS, body: REFUSED };
/** Who has signed has to know whether this one is gone, has no room, or is there for all but this message. */
const ANSWERS: Readonly<Partial<Record<HandOverFault, { status: number; body: string }>>> = {
  draining: { status: 503, body: '{"error":"Shutting down"}' },
  capacity: { status: NO_ROOM_STATUS, body: '{"error":"No capacity"}' },
  size: NOT_TAKEN,
  shape: NOT_TAKEN,
  time: NOT_TAKEN,
};

export function createReplicaServer(options: ReplicaServerOptions): ReplicaServer {
  const { listen, self, keys, budget, logger } = options;
  const timing = { ...DEFAULT_HTTP_TIMING, ...options.timing };
  // Well within the silence that the other side puts up with (DEFAULT_REPLICA_TIMING).
  const heartbeats = new KeepAliveComments(timing.keepAliveCommentMs);
  const nonces = new RecentNonces({ toleranceMs: CLOCK_TOLERANCE_MS });
  const openReplies = new Roster<FramedReply>();
  const unsigned = new BufferBudget(MAX_UNSIGNED_BYTES);
  const listener = createHttpListener({
    ...listen,
    timing,
    handler: (request, response) => void answer(request, response),
    onBroken: () => options.onRefused('request'),
    onProblem: (error) => logger.warn({ err: error }, 'a connection of a replica could not be accepted'),
  });

  /** Never rejects. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hold = budget.open();
    const lineHold = unsigned.open();
    try {
      const taken = listener.stopping
        ? 'draining'
        : await readHandedOver(request, response, {
            ...{ self, nonces, hold, lineHold, key: keys.envelope, now: Date.now() },
            maxBodyBytes: options.bodyLimitBytes(),
          });
      if (typeof taken === 'string') refuse(request, response, taken);
      else await run(taken, response);
    } catch (thrown) {
      logger.error({ err: thrown }, 'internal error');
      response.destroy();
    } finally {
      hold.resize(0);
      lineHold.resize(0);
    }
  }

  /** Nothing is said about why. */
  function refuse(request: IncomingMessage, response: ServerResponse, fault: HandOverFault): void {
    options.onRefused(fault);
    const answer = ANSWERS[fault] ?? { status: 403, body: REFUSED };
    answerEarly(request, response, { ...answer, headers: [] }, { timing, closing: listener.stopping });
    // What has come of it already would keep its connection from the next one.
    request.resume();
  }

  async function run({ from, nonce, exchange: sent }: HandedOver, response: ServerResponse): Promise<void> {
    if (response.destroyed) return;
    if (listener.stopping) response.shouldKeepAlive = false;
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' });
    const signed = new SignedLines(keys.answer, nonce);
    response.write(signed.sign(TAKEN));
    const { id, kind, view, headers, principal, address } = sent;
    const record = newRecord(id, performance.now());
    record.view = view;
    record.traceContext = readTraceContext(headers);
    const clientGone = new Stop();
    const over = new Stop();
    const reply = new FramedReply({
      ...{ response, record, heartbeats, signed },
      accepts: readAccept(headers.accept),
      hold: budget.open(),
      maxQueuedBytes: timing.maxQueuedReplyBytes,
      stallTimeoutMs: timing.stallTimeoutMs,
      onFailure: (error) => reportFailure(logger, error, record),
      onLeft: () => clientGone.abort(),
    });
    const place = openReplies.enter(reply);
    reply.whenClosed(() => over.abort());
    let signedOut: StopSignal | undefined;
    const forwarded: ForwardedFrom = { replica: from, kind, credentials: sent.credentials };
    const exchange: Exchange = {
      ...{ id, view, headers, principal, reply, record, forwarded },
      httpMethod: sent.httpMethod,
      body: sent.body,
      // What the caller signed in with has stayed where it came in.
      caller: callerOf(principal, () => undefined),
      arrival: { address, storeFailed: false },
      clientGone,
      get signedOut() {
        signedOut ??= options.signIn()?.watch(principal, over) ?? NEVER;
        return signedOut;
      },
    };
    await carry(exchange, reply);
    place.leave();
    if (record.outcome === undefined) {
      record.outcome = 'cancelled';
      record.reason = 'client_left';
    }
    record.durationMs = performance.now() - record.startedAt;
    options.onSettled(record, forwarded);
  }

  async function carry(exchange: Exchange, reply: FramedReply): Promise<void> {
    const { record, clientGone } = exchange;
    try {
      await options.handleExchange(exchange);
    } catch (thrown) {
      // An exchange that stopped because nobody waits for it has not failed.
      if (!clientGone.aborted || thrown !== clientGone.reason)
        reply.fail(toGatewayError(thrown), undefined, record.era ?? 'legacy');
    }
    await reply.close();
  }

  return {
    listen: listener.listen,
    async close() {
      listener.stopAccepting();
      for (const reply of openReplies) endReply(reply);
      await listener.close();
    },
    get openReplies() {
      return openReplies.size;
    },
  };
}

/** What is still open at the very end; who knew its id had the chance to answer. */
function endReply(reply: FramedReply): void {
  if (reply.committed) reply.end();
  else reply.fail(new GatewayError('draining'), undefined, 'legacy');
}
