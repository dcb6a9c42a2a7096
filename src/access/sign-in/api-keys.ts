// Keys for machines that cannot do OAuth, known by their SHA-256 alone.
import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyConfig } from '../../config/auth-config.ts';
import type { Principal } from '../principal.ts';

/** No issuer of tokens can have this name: it is no URL. */
export const API_KEY_ISSUER = 'portico:api-keys';

export class ApiKeys {
  readonly #keys: readonly { readonly digest: Buffer; readonly principal: Principal }[];

  constructor(keys: readonly ApiKeyConfig[]) {
    this.#keys = keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), principal: principalOf(key) }));
  }

  /** In a time that tells nothing of the keys, not even which one it was. */
  find(digest: Buffer): Principal | undefined {
    let found: Principal | undefined;
    for (const key of this.#keys) {
      if (timingSafeEqual(key.digest, digest)) found = key.principal;
    }
    return found;
  }
}

function principalOf({ name, sha256, scopes, groups }: ApiKeyConfig): Principal {
  return {
    issuer: API_KEY_ISSUER,
    subject: name,
    clientId: name,
    scopes,
    groups,
    claims: {},
    tokenId: Buffer.from(sha256, 'hex').toString('base64url'),
    expiresAtMs: undefined,
  };
}
