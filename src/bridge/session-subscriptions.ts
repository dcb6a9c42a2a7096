// `resources/subscribe` of a legacy session on a modern server: a listen stream cannot be changed, so each change opens
// a new one, waits for its acknowledgement, and closes the old one (BRIDGE.md, A, "Subscriptions").
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';
import { META, MODERN_VERSION } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import { TurnQueue } from './turn-queue.ts';

const ACKNOWLEDGEMENT_TIMEOUT_MS = 30_000;
const REOPEN_AFTER_MS = 1_000;
const MAX_URIS = 256;

export interface SubscriptionBinding {
  readonly link: ServerLink;
  /** Aborts with the session. */
  readonly ended: AbortSignal;
  readonly info: JsonObject | undefined;
  deliver(message: { jsonrpc: '2.0'; method: string; params?: JsonObject }): void;
}

/** The resources that one session is subscribed to, and the one listen stream upstream that serves them. */
export class SessionSubscriptions {
  readonly #uris = new Set<string>();
  readonly #turns = new TurnQueue();
  #binding: SubscriptionBinding | undefined;
  #current: AbortController | undefined;

  /** Where to listen, and to whom to tell it; the newest link counts. */
  bind(binding: SubscriptionBinding): void {
    this.#binding = binding;
  }

  get size(): number {
    return this.#uris.size;
  }

  /** @returns whether the server named the URI in its acknowledgement */
  async add(uri: string, signal: AbortSignal): Promise<boolean> {
    const endTurn = await this.#turns.take(signal, ACKNOWLEDGEMENT_TIMEOUT_MS);
    try {
      if (this.#uris.has(uri)) return true;
      if (this.#uris.size >= MAX_URIS) throw new GatewayError('no-capacity', { reason: 'subscriptions' });
      const agreed = await this.#listen(new Set([...this.#uris, uri]), signal, uri);
      if (agreed) this.#uris.add(uri);
      return agreed;
    } finally {
      endTurn();
    }
  }

  async remove(uri: string, signal: AbortSignal): Promise<true> {
    const endTurn = await this.#turns.take(signal, ACKNOWLEDGEMENT_TIMEOUT_MS);
    try {
      if (!this.#uris.delete(uri)) return true;
      if (this.#uris.size === 0) this.#replace(undefined);
      else await this.#listen(this.#uris, signal, undefined);
      return true;
    } finally {
      endTurn();
    }
  }

  /** Opens a listen for `uris`; where `wanted` is not acknowledged, the stream that was there stays. */
  async #listen(
    uris: ReadonlySet<string>,
    signal: AbortSignal,
    wanted: string | undefined,
  ): Promise<boolean> {
    const binding = this.#binding;
    if (binding === undefined) return false;
    const controller = new AbortController();
    const { promise: acknowledged, resolve, reject } = Promise.withResolvers<JsonObject>();
    const onMessage = (message: ServerMessage) => {
      if (message.method === 'notifications/subscriptions/acknowledged') resolve(message.params ?? {});
      else if (message.method === 'notifications/resources/updated')
        binding.deliver(withoutSubscription(message));
    };
    const listening = binding.link.call('subscriptions/listen', listenParams(uris, binding.info), {
      signal: AbortSignal.any([controller.signal, binding.ended]),
      longLived: true,
      onMessage,
    });
    const refused = () => reject(new GatewayError('server-unavailable', { reason: 'listen-ended' }));
    listening.then(refused, refused);
    const timer = setTimeout(refused, ACKNOWLEDGEMENT_TIMEOUT_MS);
    signal.addEventListener('abort', refused, { once: true });
    try {
      const { notifications } = await acknowledged;
      const honoured = isJsonObject(notifications) ? notifications.resourceSubscriptions : undefined;
      if (wanted !== undefined && !(Array.isArray(honoured) && honoured.includes(wanted))) {
        controller.abort();
        return false;
      }
      this.#replace(controller);
      const over = () => this.#onStreamEnded(controller);
      listening.then(over, over);
      return true;
    } catch (thrown) {
      controller.abort();
      throw thrown;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', refused);
    }
  }

  #replace(controller: AbortController | undefined): void {
    this.#current?.abort();
    this.#current = controller;
  }

  /** Ended upstream: it is opened again, and everything may have changed meanwhile. */
  #onStreamEnded(controller: AbortController): void {
    if (this.#current !== controller) return;
    void this.#reopen(controller);
  }

  async #reopen(ended: AbortController): Promise<void> {
    const binding = this.#binding;
    for (
      let pauseMs = REOPEN_AFTER_MS;
      binding?.link.open === true;
      pauseMs = Math.min(pauseMs * 2, 30_000)
    ) {
      if (this.#current !== ended || binding.ended.aborted) return;
      await delay(pauseMs, undefined, { signal: binding.ended, ref: false }).catch(() => undefined);
      if (this.#current !== ended || binding.ended.aborted) return;
      const again = await this.#listen(this.#uris, binding.ended, undefined).catch(() => false);
      if (!again) continue;
      for (const uri of this.#uris) {
        binding.deliver({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
      }
      return;
    }
  }
}

function listenParams(uris: ReadonlySet<string>, info: JsonObject | undefined): JsonObject {
  return {
    notifications: { resourceSubscriptions: [...uris] },
    _meta: {
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientCapabilities]: {},
      ...(info === undefined ? {} : { [META.clientInfo]: info }),
    },
  };
}

function withoutSubscription(message: ServerMessage): { jsonrpc: '2.0'; method: string; params: JsonObject } {
  const { _meta, ...params } = message.params ?? {};
  return { jsonrpc: '2.0', method: message.method, params };
}
