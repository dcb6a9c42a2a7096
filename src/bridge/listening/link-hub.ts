// What happens on one link to a legacy server that serves modern clients: which call may be asking, who listens, and
// which resources are subscribed. The server's pipe tells none of this apart, so it is kept here.
import { randomUUID } from 'node:crypto';
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { isSameId, type JsonRpcRequest, readExactId } from '../../protocol/json-rpc.ts';
import { isJsonObject } from '../../protocol/json-text.ts';
import { type Place, Roster } from '../../runtime/roster.ts';
import { Stop } from '../../runtime/stop.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { relatedTask } from '../crossings/related-task.ts';
import type { ParkedCall } from '../parking/parked-call.ts';
import { TurnQueue } from '../parking/turn-queue.ts';
import { LegacyLogLevels } from './legacy-log-levels.ts';
import { LinkSubscriptions } from './link-subscriptions.ts';

/** A server that asks without end must not fill the gateway. */
const MAX_HOMELESS = 100;

const FENCE_TIMEOUT_MS = 2_000;

export type HubListener = (message: ServerMessage) => void;

export class LinkHub {
  readonly link: ServerLink;
  /** Aborts when the link has closed. A promise would keep whoever has waited for it for as long as it is open. */
  readonly gone = new Stop();
  /** Of this one connection: what a legacy server hands out need not mean anything on the next. */
  readonly generation = randomUUID();
  /** Calls with an exchange attached: a question may belong to one of them. */
  readonly #askers = new Roster<ParkedCall>();
  /** Those, and the ones that are parked. */
  readonly #held = new Roster<ParkedCall>();
  /** Calls that may be asked something run one at a time where no question could be told to be whose. */
  readonly turns = new TurnQueue();
  readonly logLevels: LegacyLogLevels;
  readonly subscriptions: LinkSubscriptions;
  readonly #homeless = new Map<JsonRpcRequest, NodeJS.Timeout>();
  readonly #onListChanged: (method: string) => void;
  readonly #questionPatienceMs: number;
  /** One for each call that was given up and may have asked something that is still on its way. */
  readonly #fences = new Set<Promise<void>>();
  #asksOutsideCalls = false;

  constructor(link: ServerLink, onListChanged: (method: string) => void, questionPatienceMs: number) {
    this.link = link;
    this.logLevels = new LegacyLogLevels(link);
    this.subscriptions = new LinkSubscriptions(link);
    this.#onListChanged = onListChanged;
    this.#questionPatienceMs = questionPatienceMs;
    void link.closed.then(() => {
      this.gone.abort();
      for (const timer of this.#homeless.values()) clearTimeout(timer);
      this.#homeless.clear();
    });
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
  }

  /**
   * Whether questions name no call here. On a pipe none does. Over HTTP they come on their call's own stream, until
   * the server turns out to ask on its other one.
   */
  get takesTurns(): boolean {
    return this.link.transport.kind !== 'http' || this.#asksOutsideCalls;
  }

  /** From here on questions may belong to `call`, until it leaves; those that came too early do. */
  enter(call: ParkedCall): Place {
    const place = this.#askers.enter(call);
    this.#handHomeless(call, (question) => relatedTask(question) === undefined);
    return place;
  }

  /** The server runs `call` as this task: what says that it belongs to it, does. */
  nameTask(call: ParkedCall, taskId: string): void {
    call.task = taskId;
    this.#handHomeless(call, (question) => relatedTask(question) === taskId);
  }

  /** Keeps `call` in reach for what the server takes back, parked or not, until it leaves. */
  hold(call: ParkedCall): Place {
    return this.#held.enter(call);
  }

  /**
   * A call was given up. Its question may be on its way where it names no call, and would be taken for that of another;
   * what the server wrote before it heard of the end is here once it has answered a ping (over HTTP almost certainly:
   * the two come by two connections). Until then, questions are refused.
   */
  raiseFence(): void {
    if (!this.link.open) return;
    const fence = this.#ping().finally(() => this.#fences.delete(fence));
    this.#fences.add(fence);
  }

  /** Resolves when every fence is down. */
  async passed(): Promise<void> {
    while (this.#fences.size > 0) await Promise.all(this.#fences);
  }

  /** Calls of which the server's last word is outstanding. */
  get held(): number {
    return this.#held.size;
  }

  /** Questions that no call has been found for, and calls whose last words are still awaited. */
  get unsettled(): number {
    return this.#homeless.size + this.#fences.size;
  }

  #handHomeless(call: ParkedCall, belongs: (question: JsonRpcRequest) => boolean): void {
    for (const [question, timer] of this.#homeless) {
      if (!belongs(question)) continue;
      clearTimeout(timer);
      this.#homeless.delete(question);
      call.ask(question);
    }
  }

  #receiveQuestion(question: JsonRpcRequest): void {
    const task = relatedTask(question);
    if (task !== undefined) {
      const owner = [...this.#held].find((call) => call.task === task);
      // Its call may not have heard yet that it is a task.
      if (owner === undefined) this.#keepHomeless(question);
      else owner.ask(question);
      return;
    }
    if (this.#askers.size > 0) this.#asksOutsideCalls = true;
    // Over HTTP calls do not wait for the fence, and their own questions come by their own streams.
    const isAmbiguous = this.#askers.size === 0 || this.link.transport.kind === 'http';
    if (isAmbiguous && this.#fences.size > 0) {
      this.#refuse(question, 'The call that this belonged to was given up');
      return;
    }
    const asker = this.#asker();
    if (asker !== undefined) {
      asker.ask(question);
      return;
    }
    if (this.#askers.size > 0) {
      this.#refuse(question, 'More than one call could have asked this');
      return;
    }
    this.#keepHomeless(question);
  }

  #keepHomeless(question: JsonRpcRequest): void {
    if (this.#homeless.size >= MAX_HOMELESS) {
      this.#refuse(question, 'Too many questions wait for a call');
      return;
    }
    const timer = setTimeout(() => {
      this.#homeless.delete(question);
      this.#refuse(question, 'No call is running that this could belong to');
    }, this.#questionPatienceMs);
    this.#homeless.set(question, timer.unref());
  }

  /** The only call in flight that may ask, nobody else could have; else the only one that is parked. */
  #asker(): ParkedCall | undefined {
    const candidates = this.#askers.size > 0 ? this.#askers : this.#held;
    return candidates.size === 1 ? [...candidates][0] : undefined;
  }

  /** Behind the word that the call is over. A server that answers no pings delays the next call a little. */
  async #ping(): Promise<void> {
    await Promise.resolve();
    const signal = AbortSignal.timeout(FENCE_TIMEOUT_MS);
    await this.link.call('ping', undefined, { signal }).catch(() => undefined);
  }

  #withdraw({ params }: ServerMessage): void {
    const requestId = isJsonObject(params) ? readExactId(params.requestId) : undefined;
    if (requestId === undefined) return;
    for (const call of this.#held) call.withdraw(requestId);
    for (const [question, timer] of this.#homeless) {
      if (!isSameId(question.id, requestId)) continue;
      clearTimeout(timer);
      this.#homeless.delete(question);
    }
  }

  #refuse({ id }: JsonRpcRequest, message: string): void {
    void this.link.respond(id, { error: { code: METHOD_NOT_FOUND, message } });
  }
}

/** The hub of each link, for as long as the link itself is held by anyone; and who listens to whose links. */
export class LinkHubs {
  readonly #hubs = new WeakMap<ServerLink, LinkHub>();
  readonly #listeners = new Map<string, OwnersListeners>();
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

  /** A message of a principal's own link that its wire ties to no call. `owner` stands for server and principal. */
  receive(message: ServerMessage, link: ServerLink, owner: string): void {
    this.of(link).receive(message);
    if ('id' in message) return;
    for (const listener of this.#listeners.get(owner) ?? []) listener(message);
  }

  /** Tells those who listen to the links of a principal at a server of what none of these links here has said. */
  announce(message: ServerMessage, isTheirs: (owner: string) => boolean): void {
    for (const [owner, listeners] of this.#listeners) {
      if (isTheirs(owner)) for (const listener of listeners) listener(message);
    }
  }

  /** Hears notifications of the owner's link, whether it is open by now or will be. Returns the way to stop. */
  listen(owner: string, listener: HubListener): () => void {
    const listeners = this.#listeners.get(owner) ?? new OwnersListeners(owner, this.#listeners);
    return listeners.listen(listener);
  }

  /** Owners somebody listens to. */
  get listened(): number {
    return this.#listeners.size;
  }
}

/** Holds the text that owners are told apart by, so that none of the listeners has to. */
class OwnersListeners extends Set<HubListener> {
  readonly #owner: string;
  readonly #all: Map<string, OwnersListeners>;

  constructor(owner: string, all: Map<string, OwnersListeners>) {
    super();
    this.#owner = owner;
    this.#all = all;
  }

  listen(listener: HubListener): () => void {
    this.add(listener);
    this.#all.set(this.#owner, this);
    return () => {
      this.delete(listener);
      if (this.size === 0 && this.#all.get(this.#owner) === this) this.#all.delete(this.#owner);
    };
  }
}
