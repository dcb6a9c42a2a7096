// What happens on one link to a legacy server that serves modern clients: which call may be asking, who listens, and
// which resources are subscribed. The server's pipe tells none of this apart, so it is kept here.
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import { type JsonRpcRequest, readId } from '../protocol/json-rpc.ts';
import { isJsonObject } from '../protocol/json-text.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import { LegacyLogLevels } from './legacy-log-levels.ts';
import type { ParkedCall } from './parked-call.ts';
import { TurnQueue } from './turn-queue.ts';

export type HubListener = (message: ServerMessage) => void;

export class LinkHub {
  readonly link: ServerLink;
  /** Calls with an exchange attached: a question may belong to one of them. */
  readonly #askers = new Set<ParkedCall>();
  /** Those, and the ones that are parked. */
  readonly #held = new Set<ParkedCall>();
  /** On a pipe, calls that may be asked something run one at a time, or no question could be told to be whose. */
  readonly turns = new TurnQueue();
  readonly logLevels: LegacyLogLevels;
  readonly #listeners = new Set<HubListener>();
  readonly #subscribed = new Map<string, number>();
  readonly #homeless = new Map<JsonRpcRequest, NodeJS.Timeout>();
  readonly #onListChanged: (method: string) => void;
  readonly #questionPatienceMs: number;

  constructor(link: ServerLink, onListChanged: (method: string) => void, questionPatienceMs: number) {
    this.link = link;
    this.logLevels = new LegacyLogLevels(link);
    this.#onListChanged = onListChanged;
    this.#questionPatienceMs = questionPatienceMs;
  }

  /** A message of the link that its wire ties to no call. */
  receive(message: ServerMessage): void {
    if ('id' in message) {
      this.#receiveQuestion(message);
      return;
    }
    if (message.method === 'notifications/cancelled') {
      this.#withdraw(message);
      return;
    }
    const parked = this.#held.size - this.#askers.size;
    this.logLevels.receive(message, this.link.inFlight - parked);
    this.#onListChanged(message.method);
    for (const listener of this.#listeners) listener(message);
  }

  /** From here on questions may belong to `call`; those that came too early do. Returns the way out. */
  enter(call: ParkedCall): () => void {
    this.#askers.add(call);
    for (const [question, timer] of this.#homeless) {
      clearTimeout(timer);
      call.ask(question);
    }
    this.#homeless.clear();
    return () => this.#askers.delete(call);
  }

  /** Keeps `call` in reach for what the server takes back, parked or not. Returns the way out. */
  hold(call: ParkedCall): () => void {
    this.#held.add(call);
    return () => this.#held.delete(call);
  }

  /** Calls of which the server's last word is outstanding. */
  get held(): number {
    return this.#held.size;
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns true for the first subscriber, who has to tell the server */
  addSubscriber(uri: string): boolean {
    const subscribers = this.#subscribed.get(uri) ?? 0;
    this.#subscribed.set(uri, subscribers + 1);
    return subscribers === 0;
  }

  /** @returns true for the last subscriber, who has to tell the server */
  removeSubscriber(uri: string): boolean {
    const left = (this.#subscribed.get(uri) ?? 1) - 1;
    if (left > 0) this.#subscribed.set(uri, left);
    else this.#subscribed.delete(uri);
    return left === 0;
  }

  get subscriptions(): number {
    return this.#subscribed.size;
  }

  #receiveQuestion(question: JsonRpcRequest): void {
    const asker = this.#askerOf(question);
    if (asker !== undefined) {
      asker.ask(question);
      return;
    }
    if (this.#askers.size > 0) {
      this.#refuse(question, 'More than one call could have asked this');
      return;
    }
    const timer = setTimeout(() => {
      this.#homeless.delete(question);
      this.#refuse(question, 'No call is running that this could belong to');
    }, this.#questionPatienceMs);
    this.#homeless.set(question, timer.unref());
  }

  /** The only call in flight that may ask; nobody else could have (BRIDGE.md, B). */
  #askerOf(_question: JsonRpcRequest): ParkedCall | undefined {
    return this.#askers.size === 1 ? [...this.#askers][0] : undefined;
  }

  #withdraw({ params }: ServerMessage): void {
    const requestId = isJsonObject(params) ? readId(params.requestId)?.id : undefined;
    if (requestId === undefined) return;
    for (const call of this.#held) call.withdraw(requestId);
    for (const [question, timer] of this.#homeless) {
      if (question.id !== requestId) continue;
      clearTimeout(timer);
      this.#homeless.delete(question);
    }
  }

  #refuse({ id }: JsonRpcRequest, message: string): void {
    void this.link.respond(id, { error: { code: METHOD_NOT_FOUND, message } });
  }
}

/** The hub of each link, for as long as the link itself is held by anyone. */
export class LinkHubs {
  readonly #hubs = new WeakMap<ServerLink, LinkHub>();
  readonly #onListChanged: (link: ServerLink, method: string) => void;
  readonly #questionPatienceMs: number;

  /** @param questionPatienceMs how long a question outside any call waits for one that it could belong to */
  constructor(onListChanged: (link: ServerLink, method: string) => void, questionPatienceMs: number) {
    this.#onListChanged = onListChanged;
    this.#questionPatienceMs = questionPatienceMs;
  }

  of(link: ServerLink): LinkHub {
    let hub = this.#hubs.get(link);
    if (hub === undefined) {
      hub = new LinkHub(link, (method) => this.#onListChanged(link, method), this.#questionPatienceMs);
      this.#hubs.set(link, hub);
    }
    return hub;
  }
}
