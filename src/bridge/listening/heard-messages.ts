// What a caller may hear of what a server says by itself: events of an open stream are authorized one by one.
import type { ServerAccess } from '../../access/rules/server-access.ts';
import type { JsonRpcNotification, JsonRpcOutcome, StreamMessage } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import { LIST_CHANGES } from '../../protocol/list-changes.ts';
import type { CallOutput, StreamSink } from '../call-output.ts';

/** They tell of the caller's own calls, or of no target at all. */
const UNSUSPECTED = new Set([
  'notifications/progress',
  'notifications/message',
  'notifications/cancelled',
  'notifications/elicitation/complete',
  'notifications/subscriptions/acknowledged',
]);

const ANNOUNCED = new WeakSet<StreamMessage>();

/** Word of Portico's own that a list may be another one now. Whoever could see it before may know that. */
export function announcedChange(method: string, params?: JsonObject): JsonRpcNotification {
  const message: JsonRpcNotification = { jsonrpc: '2.0', method, ...(params && { params }) };
  ANNOUNCED.add(message);
  return message;
}

/** Whether a message may reach a caller with these rights. */
export function mayHear(message: StreamMessage, access: ServerAccess): boolean {
  if (access.whole || !('method' in message) || ANNOUNCED.has(message)) return true;
  // A question, asked again on a stream that is resumed.
  if ('id' in message) return access.sees();
  const { method, params } = message;
  // Log lines speak of whatever the server does: they are for nobody whose rights to it are all gone.
  if (UNSUSPECTED.has(method)) return method !== 'notifications/message' || access.sees();
  const change = LIST_CHANGES.find((known) => known.method === method);
  if (change !== undefined) return access.sees(change.capability);
  // Tasks and extensions are for callers who may use the whole server.
  if (method !== 'notifications/resources/updated' || typeof params?.uri !== 'string') return false;
  return access.decide('resources', params.uri, { arguments: {} }).verdict === 'allowed';
}

/** An output that carries what its caller may hear by then, and the response in any case. */
export function heardOutput(output: CallOutput, access: ServerAccess): CallOutput {
  return {
    send: (message) => (mayHear(message, access) ? output.send(message) : undefined),
    respond: (idText, outcome, status) => output.respond(idText, outcome, status),
    end: () => output.end(),
  };
}

/** The same for a connection that a session's stream is written to: who listens now decides, not who called. */
export function heardSink(sink: StreamSink, access: ServerAccess): StreamSink {
  return new HeardSink(sink, access);
}

class HeardSink implements StreamSink {
  readonly #sink: StreamSink;
  readonly #access: ServerAccess;

  constructor(sink: StreamSink, access: ServerAccess) {
    this.#sink = sink;
    this.#access = access;
  }

  get accepts(): StreamSink['accepts'] {
    return this.#sink.accepts;
  }

  get committed(): boolean {
    return this.#sink.committed;
  }

  holdFor(holdMs: number, primingEventId?: string): void {
    this.#sink.holdFor(holdMs, primingEventId);
  }

  openStream(primingEventId?: string): void {
    this.#sink.openStream(primingEventId);
  }

  send(message: StreamMessage, eventId?: string): Promise<void> | undefined {
    return mayHear(message, this.#access) ? this.#sink.send(message, eventId) : undefined;
  }

  respond(idText: string, outcome: JsonRpcOutcome, options?: { status?: number; eventId?: string }): void {
    this.#sink.respond(idText, outcome, options);
  }

  end(): void {
    this.#sink.end();
  }
}
