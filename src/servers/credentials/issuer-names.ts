// What servers call a person: the subject, and where several issuers have subjects, the issuer's name besides.
import type { AuthConfig } from '../../config/auth-config.ts';
import { API_KEYS_NAME } from '../../config/server-auth-config.ts';
import type { Caller } from './caller.ts';

export class IssuerNames {
  readonly #names: ReadonlyMap<string, string | undefined>;
  readonly #several: boolean;

  constructor(auth: Pick<AuthConfig, 'issuers' | 'apiKeys'> | undefined) {
    const issuers = auth?.issuers ?? [];
    this.#names = new Map(issuers.map(({ issuer, name }) => [issuer, name]));
    this.#several = issuers.length + ((auth?.apiKeys.length ?? 0) > 0 ? 1 : 0) > 1;
  }

  /** Undefined where the issuer was given none. */
  nameOf({ issuer }: Pick<Caller, 'issuer'>): string | undefined {
    // Whoever is of no issuer has one of our own keys.
    return this.#names.has(issuer) ? this.#names.get(issuer) : API_KEYS_NAME;
  }

  /**
   * One text for one person, whatever the issuer: servers look at a subject alone.
   *
   * @returns undefined where it cannot be told whose subject it is
   */
  subjectOf(caller: Pick<Caller, 'issuer' | 'subject'>): string | undefined {
    if (!this.#several) return caller.subject;
    const name = this.nameOf(caller);
    return name === undefined ? undefined : `${name}|${caller.subject}`;
  }
}
