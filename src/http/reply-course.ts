// How far an answer has come, be it written to its client or framed for another replica: open, while its status can
// still be chosen; streaming, once it is an event stream; ended.
import type { Accepted } from './accept-header.ts';

export class ReplyCourse {
  readonly #accepts: Accepted;
  readonly #beginStream: (primingEventId: string | undefined) => void;
  #state: 'open' | 'streaming' | 'ended' = 'open';
  #holdTimer: NodeJS.Timeout | undefined;
  #primingEventId: string | undefined;

  /** @param beginStream commits to an event stream; called once at most */
  constructor(accepts: Accepted, beginStream: (primingEventId: string | undefined) => void) {
    this.#accepts = accepts;
    this.#beginStream = beginStream;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get isStreaming(): boolean {
    return this.#state === 'streaming';
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  /** After `holdMs` without an answer it is a stream, if the client takes one. */
  holdFor(holdMs: number, primingEventId?: string): void {
    if (this.#state !== 'open' || !this.#accepts.events) return;
    this.#primingEventId = primingEventId;
    clearTimeout(this.#holdTimer);
    this.#holdTimer = setTimeout(() => this.openStream(), holdMs);
  }

  openStream(primingEventId = this.#primingEventId): void {
    if (this.#state !== 'open' || !this.#accepts.events) return;
    this.#state = 'streaming';
    this.#stopHold();
    this.#beginStream(primingEventId);
  }

  /** Whether the last word is an event. A status other than 200 needs its own head, so it is JSON whatever is preferred. */
  endsAsEvent(status: number): boolean {
    if (this.#state === 'streaming') return true;
    return status === 200 && !this.#accepts.json && this.#accepts.events;
  }

  end(): void {
    this.#state = 'ended';
    this.#stopHold();
  }

  #stopHold(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }
}
