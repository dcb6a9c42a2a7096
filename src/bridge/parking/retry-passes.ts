// Whether a request is the retry of a call that asked its client something (2026-07-28, basic/patterns/mrtr). The call
// has been paid for, so its retry is free: once, or a state could be brought back for ever to have calls for nothing.
import { createHash } from 'node:crypto';
import type { ClientRequest } from '../../protocol/client-message.ts';
import { isParkable } from '../../protocol/methods.ts';
import { SealedFields } from '../seals/sealed-fields.ts';
import type { SealedState } from '../seals/sealed-state.ts';

export interface RetryContext {
  /** principalKey of the caller. */
  readonly principal: string;
  readonly server: string;
}

const MAX_STATES = 20_000;

export class RetryPasses {
  readonly #state: SealedState;
  readonly #maxStates: number;
  /** Hashes of states that have been used, in two generations: the older one is forgotten when the younger is full. */
  #younger = new Set<string>();
  #older = new Set<string>();

  constructor(state: SealedState, maxStates = MAX_STATES) {
    this.#state = state;
    this.#maxStates = maxStates;
  }

  /** True the first time that a state of ours is brought back by the one who was given it, for the same call. */
  redeem(request: ClientRequest, context: RetryContext): boolean {
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
    return true;
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
