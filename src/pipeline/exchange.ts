// One client request on its way through the gateway, as the pipeline sees it: plain values, and a reply to write to.
import type { IncomingHttpHeaders } from 'node:http';
import type { Arrival } from '../access/limits/limit.ts';
import type { Principal } from '../access/principal.ts';
import type { GatewayError } from '../errors.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import type { ForwardedExchange } from '../replicas/replicas.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Caller } from '../servers/credentials/caller.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';

export interface Exchange {
  /** Names the exchange in logs, and in the body of an internal error. */
  readonly id: string;
  /** The server named by `/mcp/{server}`, or undefined on `/mcp`. */
  readonly view: string | undefined;
  readonly httpMethod: 'POST' | 'GET' | 'DELETE';
  readonly headers: IncomingHttpHeaders;
  /** Empty for GET and DELETE. */
  readonly body: Buffer;
  readonly principal: Principal;
  /** The same, for servers. It leads to the caller's token, so nothing that outlives the exchange may hold it. */
  readonly caller: Caller;
  readonly arrival: Arrival;
  readonly reply: ClientReply;
  /** Aborts when the client's connection closes before the reply has ended. */
  readonly clientGone: StopSignal;
  /**
   * Aborts when what the caller signed in with is over: expired, or withdrawn. It is what ends open streams; a call
   * in flight runs on.
   */
  readonly signedOut: StopSignal;
  readonly record: ExchangeRecord;
  /**
   * Set where the exchange goes on once all has been done for the request but to end it, as a subscription does from its
   * acknowledgement on. Aborts when that is over.
   */
  standing?: StopSignal | undefined;
  /** The exchange waits for word from others from here on: what its beginning alone needed is let go of. */
  settleIn?(): void;
  /** Undefined where the client itself has reached this replica. What was forwarded is never forwarded again. */
  readonly forwarded?: ForwardedFrom | undefined;
}

export interface ForwardedFrom {
  /** The id of the replica that the client has reached. */
  readonly replica: string;
  /** permitted: authorized, counted and recorded there, and not here. */
  readonly kind: ForwardedExchange['kind'];
  readonly credentials?: ForwardedExchange['credentials'];
}

/** The answer to one HTTP request. The first of these calls decides what kind of answer it is. */
export interface ClientReply {
  /** What the client's Accept header allows. */
  readonly accepts: { readonly json: boolean; readonly events: boolean; readonly prefersEvents: boolean };
  /** True once status and headers are out. */
  readonly committed: boolean;
  /**
   * Starts the hold: after `holdMs` without an answer, 200 and the event stream go out. With a `primingEventId`, the
   * stream's first event is that id with empty data (2025-11-25, "Sending Messages to the Server").
   */
  holdFor(holdMs: number, primingEventId?: string): void;
  /** Commits to an event stream at once: 200, headers, one comment line (and the priming event, if any). */
  openStream(primingEventId?: string): void;
  /** A header for the answer, before anything is committed. */
  setHeader(name: string, value: string): void;
  /**
   * A message ahead of the response; commits to an event stream. Dropped where the client takes no events.
   *
   * @returns a promise to await when the client reads too slowly, undefined while it keeps up
   */
  send(message: StreamMessage, eventId?: string): Promise<void> | undefined;
  /**
   * The one response, then the end. JSON with `status` (default 200) if nothing is committed and JSON is accepted,
   * else the last event of the stream.
   */
  respond(idText: string, outcome: JsonRpcOutcome, options?: { status?: number; eventId?: string }): void;
  /** The failure's row of the error table, as JSON or as the last event. */
  fail(error: GatewayError, idText: string | undefined, era: 'modern' | 'legacy'): void;
  /** Runs once, when the connection is done with the answer, however that came; at once if it is already. */
  whenClosed(listener: () => void): void;
  /** No body, no content type: 202, or 204 for what is done with. */
  accept(status?: 202 | 204): void;
  /** Ends an event stream without a response. */
  end(): void;
}
