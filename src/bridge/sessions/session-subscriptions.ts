// `resources/subscribe` of a legacy session on a modern server: a listen stream cannot be changed, so each change opens
// a new one, waits for its acknowledgement, and closes the old one.
import { GatewayError } from '../../errors.ts';
import { META, MODERN_VERSION } from '../../protocol/era.ts';
import type { JsonRpcNotification } from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import { ReopenPause } from '../../servers/reopen-pause.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { delayUnlessAborted } from '../../servers/within-time.ts';
import { TurnQueue } from '../parking/turn-queue.ts';

const ACKNOWLEDGEMENT_TIMEOUT_MS = 30_000;
const REOPEN_AFTER_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const MAX_URIS = 256;

export interface SubscriptionBinding {
  readonly server: Server;
  /** The link to listen on at that server, or at the one that has taken its place; undefined while there is none. */
  findLink(server: Server): Promise<ServerLink | undefined>;
  /** Aborts with the session. */
  readonly ended: StopSignal;
  readonly info: JsonObject | undefined;
  deliver(message: JsonRpcNotification): void;
}

/** The resources that one session is subscribed to, and the one listen stream upstream that serves them. */
export class SessionSubscriptions {
  readonly #uris = new Set<string>();
  readonly #turns = new TurnQueue();
  readonly #pause: ReopenPause;
  #binding: SubscriptionBinding | undefined;
  #current: AbortController | undefined;

  constructor(reopenAfterMs: number = REOPEN_AFTER_MS) {
    this.#pause = new ReopenPause({ firstMs: reopenAfterMs, maxMs: MAX_PAUSE_MS });
  }

  /** Where to listen, and to whom to tell it; the newest counts. */
  bind(binding: SubscriptionBinding): void {
    this.#binding = binding;
  }

  /** Its server is another one now, which is listened to from here on, or is none any more. */
  moveTo(successorOf: (server: Server) => Server | undefined): void {
    const { server } = this.#binding ?? {};
    const successor = server && successorOf(server);
    if (this.#binding === undefined || successor === server) return;
    if (successor === undefined) {
      this.#uris.clear();
      this.#replace(undefined);
      return;
    }
    this.#binding = { ...this.#binding, server: successor };
    // What was opened at the one before ends, and is opened anew as whatever ends is.
    this.#current?.abort();
  }

  get size(): number {
    return this.#uris.size;
  }

  get uris(): readonly string[] {
    return [...this.#uris];
  }

  /** Goes on with what the session was subscribed to elsewhere; whatever has been missed may be anything. */
  restore(uris: readonly string[]): void {
    const { ended } = this.#binding ?? {};
    if (ended === undefined || uris.length === 0 || this.#current !== undefined) return;
    for (const uri of uris) this.#uris.add(uri);
    const lost = new AbortController();
    this.#current = lost;
    this.#reopenNow(lost, ended).catch(() => this.#reopen(lost, 0));
  }

  /** @returns whether the server named the URI in its acknowledgement */
  async add(uri: string, signal: StopSignal): Promise<boolean> {
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

  async remove(uri: string, signal: StopSignal): Promise<true> {
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
  async #listen(uris: ReadonlySet<string>, signal: StopSignal, wanted: string | undefined): Promise<boolean> {
    const binding = this.#binding;
    const link = await binding?.findLink(binding.server);
    if (binding === undefined || link === undefined) {
      throw new GatewayError('server-unavailable', { reason: 'listen-ended' });
    }
    const controller = new AbortController();
    const end = () => controller.abort(binding.ended.reason);
    if (binding.ended.aborted) end();
    else binding.ended.addEventListener('abort', end);
    const { promise: acknowledged, resolve, reject } = Promise.withResolvers<JsonObject>();
    const onMessage = (message: ServerMessage) => {
      if (message.method === 'notifications/subscriptions/acknowledged') resolve(message.params ?? {});
      else if (message.method === 'notifications/resources/updated')
        binding.deliver(withoutSubscription(message));
    };
    const listening = link.call('subscriptions/listen', listenParams(uris, binding.info), {
      signal: controller.signal,
      longLived: true,
      onMessage,
    });
    const letGo = () => binding.ended.removeEventListener('abort', end);
    listening.then(letGo, letGo);
    const refused = () => reject(new GatewayError('server-unavailable', { reason: 'listen-ended' }));
    listening.then(refused, refused);
    const timer = setTimeout(refused, ACKNOWLEDGEMENT_TIMEOUT_MS);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      const { notifications } = await acknowledged;
      const honoured = isJsonObject(notifications) ? notifications.resourceSubscriptions : undefined;
      if (wanted !== undefined && !(Array.isArray(honoured) && honoured.includes(wanted))) {
        controller.abort();
        return false;
      }
      this.#replace(controller);
      const openedAt = performance.now();
      const over = () => this.#onStreamEnded(controller, performance.now() - openedAt);
      listening.then(over, over);
      return true;
    } catch (thrown) {
      controller.abort();
      throw thrown;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #replace(controller: AbortController | undefined): void {
    this.#current?.abort();
    this.#current = controller;
  }

  /** Ended upstream: it is opened again, and everything may have changed meanwhile. */
  #onStreamEnded(controller: AbortController, livedMs: number): void {
    if (this.#current !== controller) return;
    void this.#reopen(controller, livedMs);
  }

  async #reopen(lost: AbortController, livedMs: number): Promise<void> {
    const { ended } = this.#binding ?? {};
    let heldMs = livedMs;
    while (ended?.aborted === false && this.#current === lost) {
      const pauseMs = this.#pause.after(heldMs);
      await delayUnlessAborted(pauseMs, ended).catch(() => undefined);
      heldMs = 0;
      await this.#reopenNow(lost, ended).catch(() => undefined);
    }
  }

  /** In turn with what the client subscribes to meanwhile, which opens a stream for everything as well. */
  async #reopenNow(lost: AbortController, ended: StopSignal): Promise<void> {
    const endTurn = await this.#turns.take(ended, ACKNOWLEDGEMENT_TIMEOUT_MS);
    try {
      if (this.#current !== lost) return;
      await this.#listen(this.#uris, ended, undefined);
      for (const uri of this.#uris) {
        const updated = {
          jsonrpc: '2.0' as const,
          method: 'notifications/resources/updated',
          params: { uri },
        };
        this.#binding?.deliver(updated);
      }
    } finally {
      endTurn();
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

function withoutSubscription({ method, params = {} }: ServerMessage): JsonRpcNotification {
  const { _meta, ...rest } = params;
  const { [META.subscriptionId]: _id, ...meta } = isJsonObject(_meta) ? _meta : {};
  return {
    jsonrpc: '2.0',
    method,
    params: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta },
  };
}
