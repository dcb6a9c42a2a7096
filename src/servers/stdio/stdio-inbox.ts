// Where each message of a child goes: an answer or its progress to the call that it names, events of a subscription to
// theirs, all else to whoever holds the link. What names a call that is over goes nowhere.
import { GatewayError } from '../../errors.ts';
import { META } from '../../protocol/era.ts';
import {
  exactId,
  type JsonRpcId,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcOutcome,
} from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonValue } from '../../protocol/json-text.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { PendingCall, PendingCalls } from '../pending-calls.ts';
import { type LineItem, readServerLine } from '../server-line.ts';
import type { TransportEvents } from '../transport.ts';
import { NoiseLog } from './noise-log.ts';
import type { OutputSampler } from './output-sample.ts';

export interface StdioInboxOptions {
  readonly calls: PendingCalls;
  readonly events: TransportEvents;
  readonly logger: Logger;
  readonly sampler: OutputSampler;
}

export interface InboxStats {
  readonly messages: number;
  /** Lines on standard output that are no message. */
  readonly noiseLines: number;
  /** Answers to no open call: it was cancelled, or never made. */
  readonly lateReplies: number;
  /** Progress and subscription events of no open call, and progress that nobody asked for. */
  readonly lateNotifications: number;
}

const LISTEN = 'subscriptions/listen';

export class StdioInbox {
  readonly #options: StdioInboxOptions;
  readonly #noise: NoiseLog;
  #messages = 0;
  #lateReplies = 0;
  #lateNotifications = 0;

  constructor(options: StdioInboxOptions) {
    this.#options = options;
    this.#noise = new NoiseLog(options.logger, options.sampler);
  }

  get stats(): InboxStats {
    return {
      messages: this.#messages,
      noiseLines: this.#noise.lines,
      lateReplies: this.#lateReplies,
      lateNotifications: this.#lateNotifications,
    };
  }

  /** Takes one line, without its end. Never throws: one bad message must not cost the others their answers. */
  take(line: Buffer): void {
    for (const item of readServerLine(line)) {
      try {
        this.#takeItem(item);
      } catch (error) {
        this.#options.logger.error({ err: error }, 'a message of the server could not be handled');
      }
    }
  }

  #takeItem(item: LineItem): void {
    if (item.kind === 'noise') this.#noise.add(item.text);
    else if (item.kind === 'bad-answer') this.#badAnswer(item.id, item.problem);
    else if (item.kind !== 'salvaged') this.#message(item);
    else if (!this.#isEcho(item.message)) this.#message(item.message);
  }

  #message(message: JsonRpcMessage): void {
    this.#messages += 1;
    const { kind } = message;
    if (kind === 'response') {
      this.#answer(message.id, message.outcome);
      return;
    }
    const { method, params } = message;
    const content = { jsonrpc: '2.0' as const, method, ...(params && { params }) };
    if (kind === 'notification') this.#notification(content);
    else this.#options.events.onUnsolicited({ ...content, id: exactId(message) });
  }

  #answer(id: JsonRpcId, outcome: JsonRpcOutcome): void {
    const call = this.#options.calls.find(id);
    if (call) call.settle(outcome);
    else this.#lateReplies += 1;
  }

  #badAnswer(id: JsonValue, problem: string): void {
    const call = this.#options.calls.find(id);
    if (!call) {
      this.#lateReplies += 1;
      return;
    }
    const cause = new Error(`the answer to ${call.method} is not valid: ${problem}`);
    const text = 'The server sent an invalid answer';
    call.fail(new GatewayError('server-unavailable', { text, reason: 'bad-answer', cause }));
  }

  #notification(message: JsonRpcNotification): void {
    const { calls, events } = this.#options;
    const subscription = subscriptionOf(message);
    if (message.method === 'notifications/progress') {
      if (!calls.deliverProgress(message)) this.#lateNotifications += 1;
    } else if (subscription !== undefined) {
      if (!this.#listen(subscription)?.deliver(message)) this.#lateNotifications += 1;
    } else if (message.method === 'notifications/cancelled') {
      const listen = this.#listen(message.params?.requestId);
      // Else a legacy server takes back a question of its own, which it numbers as it likes.
      if (listen) endSubscription(listen, message);
      else events.onUnsolicited(message);
    } else {
      events.onUnsolicited(message);
    }
  }

  #listen(id: JsonValue | undefined): PendingCall | undefined {
    const call = this.#options.calls.find(id);
    return call?.method === LISTEN ? call : undefined;
  }

  /** A frame found in a server's log line may well be the one that we sent. */
  #isEcho(message: JsonRpcMessage): boolean {
    return message.kind === 'request' && this.#options.calls.find(message.id)?.method === message.method;
  }
}

function subscriptionOf({ params }: JsonRpcNotification): JsonValue | undefined {
  const meta = params?._meta;
  return isJsonObject(meta) ? meta[META.subscriptionId] : undefined;
}

/** 2026-07-28, "Cancellation": the one thing that a server cancels is a subscription. */
function endSubscription(listen: PendingCall, message: JsonRpcNotification): void {
  listen.deliver(message);
  const text = 'The server ended the subscription';
  listen.fail(new GatewayError('server-unavailable', { text, reason: 'subscription-ended' }));
}
