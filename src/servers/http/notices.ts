// What is sent to an HTTP server without an answer of its own: notifications, cancellations, and the answers to the
// server's requests.
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { discard, type HttpEndpoint } from './http-endpoint.ts';
import { messageBody } from './message-body.ts';
import { readRefusal } from './refusal.ts';
import type { TransportLife } from './transport-life.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { unavailable, wireReasonOf } from './upstream-http-error.ts';

export type Notice =
  | JsonRpcNotification
  | ({ readonly jsonrpc: '2.0'; readonly id: JsonRpcId } & JsonRpcOutcome);

export interface NoticeAddress {
  readonly endpoint: HttpEndpoint;
  readonly headers: HeaderMap;
  /** The request names a session, so the server may say that it has forgotten it. */
  readonly inSession: boolean;
}

export interface NoticesOptions {
  readonly life: TransportLife;
  readonly logger: Logger;
  /** Where, and with which headers, a message goes at this moment. */
  addressFor(notice: Notice): NoticeAddress;
  onSessionLost(): void;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
/** How long the end of a link waits for cancellations that are on their way. */
const LAST_WORDS_MS = 2_000;

export class Notices {
  readonly #options: NoticesOptions;
  /** On their way: the link may be closed right behind them, and the server is to hear them all the same. */
  readonly #cancellations = new Set<Promise<void>>();
  readonly #hushed = new AbortController();

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the server has taken the notification, or the transport has ended.
   *
   * @throws GatewayError when the server does not take it
   */
  async notify(message: JsonRpcNotification): Promise<void> {
    const { life } = this.#options;
    try {
      await this.#send(message);
    } catch (thrown) {
      if (life.ended === undefined) throw thrown;
    }
  }

  /** An answer that cannot be delivered is logged, no more: the call that asks for it shows the failure. */
  async respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    try {
      await this.#send({ jsonrpc: '2.0', id, ...outcome });
    } catch (thrown) {
      this.#options.logger.debug({ err: thrown }, 'an answer to the server was not delivered');
    }
  }

  /** Tells a legacy server, in the background, that nobody waits for a call any more. */
  cancel(requestId: number): void {
    const cancelled = { method: 'notifications/cancelled', params: { requestId } };
    const sent = this.#send({ jsonrpc: '2.0', ...cancelled }, this.#hushed.signal).catch(
      (thrown: unknown) => {
        this.#options.logger.debug({ err: thrown }, 'a cancellation was not delivered');
      },
    );
    this.#cancellations.add(sent);
    void sent.finally(() => this.#cancellations.delete(sent));
    this.#options.life.track(sent);
  }

  /** Waits until cancellations have been taken, no longer than is good for whoever closes the link. */
  async lastWords(): Promise<void> {
    const timer = setTimeout(() => this.#hushed.abort(), LAST_WORDS_MS);
    await Promise.all(this.#cancellations);
    clearTimeout(timer);
    this.#hushed.abort();
  }

  async #send(notice: Notice, over = this.#options.life.signal): Promise<void> {
    const { life, addressFor, onSessionLost, timeoutMs = TIMEOUT_MS } = this.#options;
    if (life.ended !== undefined) return;
    const { endpoint, headers, inSession } = addressFor(notice);
    const signal = AbortSignal.any([over, AbortSignal.timeout(timeoutMs)]);
    const request = { method: 'POST', headers, body: messageBody(notice), use: 'notices', signal } as const;
    const answer = await endpoint.send(request).catch((thrown: unknown) => {
      // The clock is ours, and its own error would read as a fault of ours.
      throw !over.aborted && signal.aborted
        ? unavailable('no-response', 'a message was not taken in time')
        : thrown;
    });
    // Whichever 2xx it is, and whatever body it comes with, the server has taken the message (F37).
    if (answer.status < 300) return discard(answer);
    try {
      const { code } = await readRefusal(answer, { id: undefined, inSession }, signal);
      throw unavailable('http-status', `the server refused a message with code ${code}`);
    } catch (thrown) {
      if (wireReasonOf(thrown) === 'session-lost') onSessionLost();
      throw thrown;
    }
  }
}
