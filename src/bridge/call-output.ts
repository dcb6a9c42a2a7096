// Where a call's messages go: straight to the reply of a modern client, or through a stream of a legacy session,
// which outlives the connection.
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';

export interface CallOutput {
  /** @returns a promise to await when the client reads too slowly */
  send(message: StreamMessage): Promise<void> | undefined;
  /** The one response; `status` counts only where nothing has gone out yet. */
  respond(idText: string, outcome: JsonRpcOutcome, status: number): void;
  /** No response is to come: the client itself cancelled the call. */
  end(): void;
}

/** The part of an HTTP reply that streams are written to. The pipeline's ClientReply is one. */
export interface StreamSink {
  readonly accepts: { readonly json: boolean; readonly events: boolean };
  readonly committed: boolean;
  holdFor(holdMs: number, primingEventId?: string): void;
  openStream(primingEventId?: string): void;
  send(message: StreamMessage, eventId?: string): Promise<void> | undefined;
  respond(idText: string, outcome: JsonRpcOutcome, options?: { status?: number; eventId?: string }): void;
  end(): void;
}
