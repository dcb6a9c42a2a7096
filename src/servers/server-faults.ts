// What last went wrong with a server, in words for the operator, never for a client.
import { GatewayError } from '../errors.ts';

export class ServerFaults {
  /** Of the last start or link, if it failed. */
  #last: { readonly words: string; readonly at: string } | undefined;
  #refusal: GatewayError | undefined;

  get isBroken(): boolean {
    return this.#last !== undefined;
  }

  /** Why the last start failed, if it was for a credential. */
  get refusal(): GatewayError | undefined {
    return this.#refusal;
  }

  /** A link is open. */
  clear(): void {
    this.#last = undefined;
    this.#refusal = undefined;
  }

  /** A start failed. @returns why, in words */
  noteFailure(thrown: unknown): string {
    this.#refusal = isCredentialRefusal(thrown) ? thrown : undefined;
    const words = describeFailure(thrown);
    this.#note(words);
    return words;
  }

  /** A link that was open ended by itself. */
  noteEnd(reason: string): void {
    this.#note(reason);
  }

  status(): { readonly lastError: string | null; readonly lastErrorAt: string | null } {
    return { lastError: this.#last?.words ?? null, lastErrorAt: this.#last?.at ?? null };
  }

  #note(words: string): void {
    this.#last = { words, at: new Date().toISOString() };
  }
}

function isCredentialRefusal(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.code === 'credential-refused';
}

/** Reason and cause. */
function describeFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const reason = thrown instanceof GatewayError ? (thrown.details.reason ?? thrown.code) : thrown.message;
  return thrown.cause instanceof Error ? `${reason}: ${thrown.cause.message}` : reason;
}
