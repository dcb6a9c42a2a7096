// What goes to a child, each message a line: requests and their cancellations, notifications, answers to what it asks.
// A request that finds the queue full fails; all else, as with a child that has stopped reading, is dropped and logged.
import { GatewayError } from '../../errors.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import { writeJson } from '../../protocol/json-text.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { PendingCall } from '../pending-calls.ts';
import type { QueuedFrame, WriteQueue } from './write-queue.ts';

export interface StdioOutboxOptions {
  readonly writes: WriteQueue;
  readonly logger: Logger;
  /** The child asks on and on, and reads no answer. */
  onUnreadAnswers(): void;
}

const DROP_LOG_EVERY_MS = 60_000;
/** Beyond what the pipe itself holds, which is more than that again. */
const MAX_UNREAD_ANSWERS = 1_000;
/**
 * Given up without a word. `initialize` must not be cancelled (2025-11-25, "Cancellation"), and a server that leaves
 * `server/discover` unanswered most likely expects to hear `initialize` before anything else.
 */
const NEVER_CANCELLED: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

export class StdioOutbox {
  readonly #options: StdioOutboxOptions;
  #unreadAnswers = 0;
  #dropped = 0;
  #dropLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: StdioOutboxOptions) {
    this.#options = options;
  }

  /** @throws GatewayError no-capacity when too much is waiting already, or params-invalid */
  request(request: object): QueuedFrame {
    return this.#options.writes.enqueue(frameOf(request));
  }

  /** What was never sent needs no cancelling. */
  cancel({ id, method }: PendingCall, frame: QueuedFrame | undefined): void {
    const { writes } = this.#options;
    if (frame === undefined || writes.withdraw(frame) || NEVER_CANCELLED.has(method)) return;
    const params = { requestId: id };
    const cancelled: JsonRpcNotification = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    writes.enqueue(frameOf(cancelled), { urgent: true });
  }

  /** Resolves when it is written or dropped; never rejects. */
  notify(message: JsonRpcNotification): Promise<void> {
    return this.#write(message);
  }

  /** The same. */
  async respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    const { writes, onUnreadAnswers } = this.#options;
    if (this.#unreadAnswers >= MAX_UNREAD_ANSWERS && writes.blocked) {
      onUnreadAnswers();
      return;
    }
    this.#unreadAnswers += 1;
    await this.#write({ jsonrpc: '2.0', id, ...outcome });
    this.#unreadAnswers -= 1;
  }

  close(): void {
    this.#options.writes.close();
  }

  #write(message: object): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    try {
      this.#options.writes.enqueue(frameOf(message), { onSettled: resolve });
    } catch (error) {
      this.#noteDropped(error);
      resolve();
    }
    return promise;
  }

  /** A server that asks without end and reads no answers must not fill the log. */
  #noteDropped(error: unknown): void {
    this.#dropped += 1;
    const now = performance.now();
    if (now - this.#dropLoggedAt < DROP_LOG_EVERY_MS) return;
    this.#dropLoggedAt = now;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.logger.warn({ reason, dropped: this.#dropped }, 'messages for the server were dropped');
  }
}

/** A message as a line. JSON.stringify follows nested values by recursion, so it has an end. */
function frameOf(message: object): string {
  try {
    return writeJson(message);
  } catch (cause) {
    throw new GatewayError('params-invalid', { text: 'The message is nested too deeply', cause });
  }
}
