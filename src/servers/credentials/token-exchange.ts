// A token on behalf of the caller (RFC 8693), in exchange for the one that it came with: one for each caller and set of
// scopes, and never good for longer than the caller's own.
import type { TokenExchangeConfig } from '../../config/server-auth-config.ts';
import type { Caller } from './caller.ts';
import { CallerToken } from './caller-token.ts';
import { CredentialFailure, type CredentialSource } from './credential.ts';
import { CredentialCache } from './credential-cache.ts';
import type { SourceOptions } from './source-options.ts';
import { requestToken } from './token-endpoint.ts';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** @param server the slug of the one that it is for */
export function tokenExchangeSource(
  endpoint: TokenExchangeConfig,
  server: string,
  { fetchJson, now, timing }: SourceOptions,
): CredentialSource {
  const cache = new CredentialCache(now, timing);

  function exchange(subjectToken: CallerToken) {
    const grant = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: CallerToken.reveal(subjectToken),
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
    };
    return requestToken({ endpoint, grant, fetchJson, now });
  }

  return {
    personal: true,
    async credentialFor(caller) {
      if (caller === undefined) throw new CredentialFailure('no-caller', 'nobody calls');
      const { expiresAtMs } = caller;
      if (expiresAtMs !== undefined && expiresAtMs <= now()) {
        throw new CredentialFailure('caller-expired', 'the sign-in of the caller is over');
      }
      return cache.get({
        key: keyOf(caller),
        latestEndMs: expiresAtMs,
        async obtain() {
          const token = caller.token();
          if (token !== undefined) return exchange(token);
          const handedOver = caller.handedOver?.(server);
          if (handedOver !== undefined) return handedOver;
          throw new CredentialFailure(
            'no-caller',
            'the caller signed in with nothing that could be exchanged',
          );
        },
      });
    },
    forget: (credential, caller) => caller !== undefined && cache.forget(keyOf(caller), credential),
  };
}

/** A token with fewer scopes must not profit from what one with more was exchanged for. */
function keyOf({ key, scopes }: Caller): string {
  return JSON.stringify([key, [...scopes].sort()]);
}
