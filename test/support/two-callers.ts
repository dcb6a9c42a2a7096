// Two callers of one gateway, each with an API key of its own.
import { createHash } from 'node:crypto';
import type { AuthConfig } from '../../src/config/auth-config.ts';

export const ALICE = { headers: { authorization: 'Bearer key-of-alice-0123456789' } } as const;
export const BOB = { headers: { authorization: 'Bearer key-of-bob-0123456789' } } as const;
/** For `secrets` of a gateway: no log line may hold them. */
export const KEYS: readonly string[] = [ALICE, BOB].map(({ headers }) => headers.authorization.slice(7));

export const TWO_CALLERS: AuthConfig = {
  issuers: [],
  apiKeys: KEYS.map((key, index) => ({
    name: index === 0 ? 'alice' : 'bob',
    sha256: createHash('sha256').update(key).digest('hex'),
    scopes: ['mcp'],
    groups: [],
  })),
  scopesSupported: ['mcp'],
  requiredScopes: ['mcp'],
};
