// The resources of one link that modern clients listen to at its legacy server: each is subscribed to once, however many
// want it, and whoever wants it at the time learns the one outcome.
import type { StopSignal } from '../../runtime/stop.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import { unlessAborted } from '../../servers/within-time.ts';

interface Subscription {
  subscribers: number;
  /** Whether the server agreed; rejects where it did not answer. */
  readonly agreed: Promise<boolean>;
  settled: boolean;
}

const UNSUBSCRIBE_TIMEOUT_MS = 5_000;

export class LinkSubscriptions {
  readonly #link: ServerLink;
  readonly #byUri = new Map<string, Subscription>();
  /** Over HTTP a later message may overtake an earlier one, so nobody subscribes while it is being given up. */
  readonly #leaving = new Map<string, Promise<unknown>>();

  constructor(link: ServerLink) {
    this.#link = link;
  }

  /** How many resources are subscribed to, or about to be. */
  get size(): number {
    return this.#byUri.size;
  }

  /**
   * Keeps the link from being idle until `remove`, if the server agrees.
   *
   * @returns whether it does
   * @throws GatewayError where it does not answer, or the signal's reason
   */
  async add(uri: string, signal: StopSignal): Promise<boolean> {
    const subscription = this.#byUri.get(uri) ?? this.#open(uri);
    subscription.subscribers += 1;
    let agreed = false;
    try {
      agreed = await unlessAborted(subscription.agreed, signal);
      return agreed;
    } finally {
      if (!agreed) this.#leave(uri, subscription);
    }
  }

  /** To be called once for each `add` that was agreed to; the last one tells the server. */
  remove(uri: string): void {
    const subscription = this.#byUri.get(uri);
    if (subscription !== undefined) this.#leave(uri, subscription);
  }

  #open(uri: string): Subscription {
    const agreed = this.#subscribe(uri);
    const subscription: Subscription = { subscribers: 0, agreed, settled: false };
    this.#byUri.set(uri, subscription);
    this.#link.streams += 1;
    const settle = (holds: boolean) => {
      subscription.settled = true;
      if (!holds) this.#forget(uri, subscription);
      else if (subscription.subscribers === 0) this.#giveUp(uri, subscription);
    };
    agreed.then(settle, () => settle(false));
    return subscription;
  }

  /** On nobody's signal: who asked first may leave, and the others still want it. */
  async #subscribe(uri: string): Promise<boolean> {
    await this.#leaving.get(uri);
    const { signal } = new AbortController();
    return 'result' in (await this.#link.call('resources/subscribe', { uri }, { signal }));
  }

  #leave(uri: string, subscription: Subscription): void {
    subscription.subscribers -= 1;
    const isLast = subscription.subscribers === 0 && subscription.settled;
    if (isLast && this.#byUri.get(uri) === subscription) this.#giveUp(uri, subscription);
  }

  #giveUp(uri: string, subscription: Subscription): void {
    this.#forget(uri, subscription);
    if (!this.#link.open) return;
    const signal = AbortSignal.timeout(UNSUBSCRIBE_TIMEOUT_MS);
    const left = this.#link
      .call('resources/unsubscribe', { uri }, { signal })
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(uri));
    this.#leaving.set(uri, left);
  }

  #forget(uri: string, subscription: Subscription): void {
    if (this.#byUri.get(uri) !== subscription) return;
    this.#byUri.delete(uri);
    this.#link.streams -= 1;
    this.#link.idleSince = performance.now();
  }
}
