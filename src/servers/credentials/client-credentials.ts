// Portico signs in as itself (RFC 6749, section 4.4): one token for everyone who calls the server.
import type { ClientCredentialsConfig } from '../../config/server-auth-config.ts';
import type { CredentialSource } from './credential.ts';
import { CredentialCache } from './credential-cache.ts';
import type { SourceOptions } from './source-options.ts';
import { requestToken } from './token-endpoint.ts';

const KEY = 'everyone';
const GRANT = { grant_type: 'client_credentials' } as const;

export function clientCredentialsSource(
  endpoint: ClientCredentialsConfig,
  { fetchJson, now, timing }: SourceOptions,
): CredentialSource {
  const cache = new CredentialCache(now, timing);
  const obtain = () => requestToken({ endpoint, grant: GRANT, fetchJson, now });
  return {
    personal: false,
    credentialFor: () => cache.get({ key: KEY, obtain }),
    forget: (credential) => cache.forget(KEY, credential),
  };
}
