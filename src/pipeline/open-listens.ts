// The open subscriptions of modern clients, and what Portico itself has to say on them: that lists may have changed
// because the config did, and that a subscription is over because the servers of its view are others now, or because
// Portico drains.
import type { CallOutput } from '../bridge/call-output.ts';
import { announcedChange } from '../bridge/listening/heard-messages.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import { subscriptionComplete, subscriptionMeta } from '../protocol/subscription.ts';
import { Stop, type StopHearer } from '../runtime/stop.ts';
import type { Exchange } from './exchange.ts';
import type { ViewChange } from './view-change.ts';

export class OpenListens {
  readonly #open = new Set<OpenListen>();
  #ended = false;

  get size(): number {
    return this.#open.size;
  }

  /** @param idText the id of the request, which names the subscription to its client */
  open(exchange: Exchange, idText: string, output: CallOutput): OpenListen {
    const listen = new OpenListen(this.#open, exchange, { idText, output });
    this.#open.add(listen);
    if (this.#ended) listen.abort();
    return listen;
  }

  /** Tells those whom a reload concerns. */
  reloaded(change: ViewChange): void {
    for (const listen of [...this.#open]) {
      if (!change.concerns(listen.view)) continue;
      listen.announce();
      if (change.hasOtherServers(listen.view)) listen.abort();
    }
  }

  /** Portico drains: all are over, and whatever is opened later is so at once. */
  endAll(): void {
    this.#ended = true;
    for (const listen of [...this.#open]) listen.abort();
  }
}

/**
 * One subscription: aborts when it is over, whether its client has left, has been signed out, or our side ends it. Also
 * the output to be used in place of the one that it was made of.
 */
export class OpenListen extends Stop implements CallOutput, StopHearer {
  readonly view: string | undefined;
  readonly #all: Set<OpenListen>;
  readonly #exchange: Pick<Exchange, 'clientGone'>;
  readonly #idText: string;
  readonly #output: CallOutput;
  #agreed: JsonObject | undefined;

  constructor(
    all: Set<OpenListen>,
    exchange: Exchange,
    { idText, output }: { idText: string; output: CallOutput },
  ) {
    super();
    this.#all = all;
    const { view, clientGone, signedOut } = exchange;
    this.view = view;
    this.#exchange = exchange;
    this.#idText = idText;
    this.#output = output;
    clientGone.addEventListener('abort', this);
    signedOut.addEventListener('abort', this);
    if (clientGone.aborted || signedOut.aborted) this.handleEvent();
  }

  /** The client has left or is signed out, or a link has gone that it could not do without. */
  handleEvent(): void {
    const { clientGone } = this.#exchange;
    this.abort(clientGone.aborted ? clientGone.reason : undefined);
  }

  /** That what was agreed to may have changed. */
  announce(): void {
    const params = { _meta: subscriptionMeta(this.#idText) };
    for (const { filter, method } of LIST_CHANGES) {
      if (this.#agreed?.[filter] === true) void this.#output.send(announcedChange(method, params));
    }
  }

  send(message: StreamMessage): Promise<void> | undefined {
    if ('method' in message && message.method === 'notifications/subscriptions/acknowledged') {
      const filter = message.params?.notifications;
      this.#agreed = isJsonObject(filter) ? filter : undefined;
    }
    return this.#output.send(message);
  }

  /** The result that a subscription ends with where it is our side that ends it (basic/patterns/subscriptions). */
  complete(): void {
    this.#output.respond(this.#idText, subscriptionComplete(this.#idText), 200);
  }

  /** It is open no more. Idempotent. */
  close(): void {
    this.#all.delete(this);
  }

  respond(idText: string, outcome: JsonRpcOutcome, status: number): void {
    this.#output.respond(idText, outcome, status);
  }

  end(): void {
    this.#output.end();
  }
}
