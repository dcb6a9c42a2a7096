// Whether a request is the retry of a call that asked its client something (2026-07-28, basic/patterns/mrtr). The call
// has been paid for, so its retry is free: once, or a state could be brought back for ever to have calls for nothing.
import { createHash } from 'node:crypto';
import type { ClientRequest } from '../../protocol/client-message.ts';
import { isParkable } from '../../protocol/methods.ts';
import { type Store, StoreUnavailable } from '../../state/store.ts';
import { SealedFields } from '../seals/sealed-fields.ts';
import type { SealedState } from '../seals/sealed-state.ts';

export interface RetryContext {
  /** principalKey of the caller. */
  readonly principal: string;
  readonly server: string;
}

export interface RetryPassesOptions {
  readonly state: SealedState;
  /** Where replicas tell each other which states have been used; undefined where there is but one. */
  readonly shared?: Pick<Store, 'take' | 'available'> | undefined;
  readonly maxStates?: number;
}

const MAX_STATES = 20_000;
/** As long as a state could be brought back to another replica for nothing. */
const SHARED_FOR_MS = 3600_000;

export class RetryPasses {
  readonly #state: SealedState;
  readonly #shared: RetryPassesOptions['shared'];
  readonly #maxStates: number;
  /** Hashes of states that have been used, in two generations: the older one is forgotten when the younger is full. */
  #younger = new Set<string>();
  #older = new Set<string>();

  constructor({ state, shared, maxStates = MAX_STATES }: RetryPassesOptions) {
    this.#state = state;
    this.#shared = shared;
    this.#maxStates = maxStates;
  }

  /**
   * True the first time that a state of ours is brought back by the one who was given it, for the same call; to
   * whichever replica, as long as they can tell each other.
   */
  async redeem(request: ClientRequest, context: RetryContext): Promise<boolean> {
    const requestState = request.params?.requestState;
    if (request.era !== 'modern' || typeof requestState !== 'string' || !isParkable(request.method))
      return false;
    if (!this.#opens(request, context)) return false;
    const used = createHash('sha256').update(requestState).digest('base64url');
    if (this.#younger.has(used) || this.#older.has(used)) return false;
    if (this.#younger.size >= this.#maxStates) {
      this.#older = this.#younger;
      this.#younger = new Set();
    }
    this.#younger.add(used);
    return this.#isFirstAnywhere(used);
  }

  async #isFirstAnywhere(used: string): Promise<boolean> {
    if (this.#shared?.available !== true) return true;
    const take = { key: `retry:${used}`, amount: 1, max: 1, windowMs: SHARED_FOR_MS };
    try {
      return (await this.#shared.take([take])).taken;
    } catch (thrown) {
      if (thrown instanceof StoreUnavailable) return true;
      throw thrown;
    }
  }

  #opens({ method, params }: ClientRequest, { principal, server }: RetryContext): boolean {
    const sealed = new SealedFields({
      state: this.#state,
      principal,
      server,
      method,
      params,
      generation: '',
    });
    try {
      sealed.openParams();
      return true;
    } catch {
      return false;
    }
  }
}
