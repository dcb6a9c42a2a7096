// Exchanges that other replicas have handed over because what they need lives here: each goes down the line once more,
// without what has been done where its client is.
import type { SealedState } from '../bridge/seals/sealed-state.ts';
import { GatewayError } from '../errors.ts';
import { FleetingMap } from '../runtime/fleeting-map.ts';
import { eitherOf, Stop } from '../runtime/stop.ts';
import { untilAborted } from '../servers/within-time.ts';
import type { Exchange } from './exchange.ts';
import { callerWithCredentials } from './handed-credentials.ts';

export class ForwardedExchanges {
  readonly #state: SealedState;
  readonly #self: string;
  readonly #isDraining: () => boolean;
  /** By the replica and exchange that they came from: how to say that the client is gone. */
  readonly #running = new FleetingMap<string, Stop>();

  /** @param self the id of this replica */
  constructor(state: SealedState, self: string, isDraining: () => boolean) {
    this.#state = state;
    this.#self = self;
    this.#isDraining = isDraining;
  }

  get running(): number {
    return this.#running.size;
  }

  /** @param handle takes it down the line */
  async run(exchange: Exchange, handle: (exchange: Exchange) => Promise<void>): Promise<void> {
    const { forwarded, id, reply } = exchange;
    const key = JSON.stringify([forwarded?.replica, id]);
    if (forwarded?.kind === 'left') {
      this.#running.get(key)?.abort();
      // Who would send the client back here has to know.
      if (this.#isDraining()) throw new GatewayError('draining');
      return reply.accept();
    }
    const left = new Stop();
    this.#running.set(key, left);
    const own: Exchange = Object.create(exchange, {
      clientGone: { value: eitherOf(exchange.clientGone, left) },
      caller: { value: callerWithCredentials(this.#state, exchange, this.#self) },
    });
    try {
      await handle(own);
      if (own.standing !== undefined) await untilAborted(own.standing).catch(() => undefined);
    } finally {
      if (this.#running.get(key) === left) this.#running.delete(key);
    }
    // Nobody reads it any more, but its record is waited for.
    if (left.aborted) reply.end();
  }
}
