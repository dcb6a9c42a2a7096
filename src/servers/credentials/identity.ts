// A short-lived JWT that says who calls, signed by Portico for one server alone.
import { randomUUID } from 'node:crypto';
import type { IdentityAuthConfig } from '../../config/server-auth-config.ts';
import type { Caller } from './caller.ts';
import { CredentialFailure, type CredentialSource } from './credential.ts';
import { CredentialCache } from './credential-cache.ts';
import type { SourceOptions } from './source-options.ts';

const LIFETIME_SECONDS = 300;

export function identitySource(
  { audience }: IdentityAuthConfig,
  { signer, issuers, now, timing }: SourceOptions,
): CredentialSource {
  const cache = new CredentialCache(now, timing);

  async function mint(caller: Caller) {
    if (signer === undefined) throw new CredentialFailure('no-caller', 'there is no key to sign with');
    const iat = Math.floor(now() / 1_000);
    const endSeconds = Math.floor((caller.expiresAtMs ?? Number.POSITIVE_INFINITY) / 1_000);
    const exp = Math.min(iat + LIFETIME_SECONDS, endSeconds);
    if (exp <= iat) throw new CredentialFailure('caller-expired', 'the sign-in of the caller is over');
    const { clientId, groups, issuer } = caller;
    const sub = issuers.subjectOf(caller);
    if (sub === undefined) throw new CredentialFailure('no-caller', 'the issuer of the caller has no name');
    const claims = {
      aud: audience,
      sub,
      client_id: clientId,
      groups,
      idp: issuer,
      jti: randomUUID(),
      iat,
      exp,
    };
    return { token: await signer.sign(claims), expiresAtMs: exp * 1_000 };
  }

  return {
    personal: true,
    async credentialFor(caller) {
      if (caller === undefined) throw new CredentialFailure('no-caller', 'nobody calls');
      return cache.get({
        key: keyOf(caller),
        latestEndMs: caller.expiresAtMs,
        obtain: () => mint(caller),
      });
    },
    forget: (credential, caller) => caller !== undefined && cache.forget(keyOf(caller), credential),
  };
}

function keyOf({ key, groups }: Caller): string {
  return JSON.stringify([key, [...groups].sort()]);
}
