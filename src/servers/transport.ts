// What a link needs of the wire to one server, whether that wire is a child's pipes or HTTP. A transport mints the
// ids and progress tokens of its leg and restores the caller's; it knows nothing of clients, views or eras beyond
// the headers that HTTP demands.
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome, JsonRpcRequest } from '../protocol/json-rpc.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Caller } from './credentials/caller.ts';

/** One request to a server. `params` are final but for the progress token, which the transport swaps. */
export interface UpstreamCall {
  readonly method: string;
  readonly params: JsonObject | undefined;
  /** `Mcp-Param-*` headers for HTTP, name (lower case) to encoded value; other transports ignore them. */
  readonly paramHeaders?: Readonly<Record<string, string>> | undefined;
  /** On whose behalf; undefined for what Portico asks by itself, which goes with what the link was last shown. */
  readonly caller?: Caller | undefined;
  /** A subscription: it stays open, so it takes none of the places that `maxInFlight` counts. */
  readonly longLived?: boolean;
  /**
   * Aborting cancels the call at the server (`notifications/cancelled` with the upstream id, or closing the stream)
   * and rejects with the signal's reason.
   */
  readonly signal: StopSignal;
  /**
   * Messages that the wire ties to this call, in order and before the promise settles: its progress (with the
   * caller's token), the events of the subscription that it opened (with the upstream subscription id), and on HTTP
   * whatever arrives on its stream.
   */
  onMessage(message: ServerMessage): void;
  /** It has its place among the calls in flight, and goes out now. */
  onAdmitted?(): void;
}

export type ServerMessage = JsonRpcRequest | JsonRpcNotification;

export interface TransportEvents {
  /** A message that names no call: list changes, log lines of stdio, a legacy server's questions. */
  onUnsolicited(message: ServerMessage): void;
  /**
   * Once, when the wire is gone for good; every open call has been rejected by then. But for `session-lost` of an HTTP
   * server: nothing more is sent, while the calls in flight still settle one by one.
   */
  onClosed(reason: string): void;
}

export interface ServerTransport {
  readonly kind: 'stdio' | 'http' | 'sse';
  /**
   * Sends a request and settles with the server's answer, an error answer included.
   *
   * @throws GatewayError server-unavailable when the wire fails, or the signal's reason when aborted
   */
  call(call: UpstreamCall): Promise<JsonRpcOutcome>;
  /** Resolves when the message has been handed over; never rejects once closed. */
  notify(message: JsonRpcNotification): Promise<void>;
  /** Answers a legacy server's own request. Never rejects: what cannot be delivered is logged. */
  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void>;
  /**
   * Reads nothing more from the server until the returned function is called, so that its pipe fills and it waits:
   * everyone on the wire does. Absent where there is no pipe to fill.
   */
  pauseReading?(): () => void;
  /**
   * Makes the caller's credential the one that goes with whatever belongs to no call. Absent where none is sent.
   *
   * @throws GatewayError credential-refused, or the signal's reason
   */
  present?(caller: Caller, signal: StopSignal): Promise<void> | undefined;
  /** Fixes the revision of the leg once it is negotiated; HTTP says it in a header from then on. */
  setProtocolVersion(version: string): void;
  /** The session that an HTTP server has given this leg. */
  readonly sessionId?: string | undefined;
  /** Goes on in a session that another wire has opened. Absent where a session ends with its wire. */
  takeUpSession?(id: string, version: string): void;
  /** From here on `close` does not end the server's session: another wire goes on in it. */
  leaveSession?(): void;
  /** True until `onClosed`. */
  readonly open: boolean;
  /** Idempotent; resolves when nothing of the wire is left (the whole process group, every socket). */
  close(): Promise<void>;
}
