// The keys that an issuer publishes, each with a fingerprint by which a verified token remembers its own.
import { createHash } from 'node:crypto';
import { compactVerify, createLocalJWKSet, errors, type JWK, type JWTHeaderParameters } from 'jose';
import type { JsonObject } from '../../protocol/json-text.ts';

export interface IssuerKey {
  readonly kid: string | undefined;
  readonly fingerprint: string;
  /** True where the signature is this key's; false where it is not, or where the key is not fit for its algorithm. */
  verifies(token: string, algorithm: string): Promise<boolean>;
}

export interface KeySet {
  readonly keys: readonly IssuerKey[];
  readonly fingerprints: ReadonlySet<string>;
}

/** A set without a key that could sign is no answer. More keys than this are nobody's. */
const MAX_KEYS = 64;
const ASYMMETRIC = new Set(['RSA', 'EC', 'OKP']);

/** @throws Error that says what is wrong with the document */
export function readKeySet(document: JsonObject | undefined): KeySet {
  const published = document?.keys;
  if (!Array.isArray(published)) throw new Error('its key set is not one');
  const keys = published.slice(0, MAX_KEYS).filter(isPublicKey).map(issuerKey);
  if (keys.length === 0) throw new Error('its key set holds no key that could sign tokens');
  return { keys, fingerprints: new Set(keys.map((key) => key.fingerprint)) };
}

/** @returns the fingerprint of the key that signed the token, or undefined where none of the set did */
export async function findSigner(
  { keys }: KeySet,
  token: string,
  { alg, kid }: JWTHeaderParameters,
): Promise<string | undefined> {
  for (const key of keys) {
    // Without a kid every key is tried; a kid that is not here is a miss, and may be a newer key.
    if (kid !== undefined && kid !== key.kid) continue;
    if (await key.verifies(token, alg)) return key.fingerprint;
  }
  return undefined;
}

function isPublicKey(key: unknown): key is JWK {
  const { kty, use, d } = (key ?? {}) as JWK;
  return typeof kty === 'string' && ASYMMETRIC.has(kty) && (use ?? 'sig') === 'sig' && d === undefined;
}

function issuerKey(jwk: JWK): IssuerKey {
  const resolve = createLocalJWKSet({ keys: [jwk] });
  return {
    kid: jwk.kid,
    fingerprint: createHash('sha256').update(canonicalText(jwk)).digest('base64url'),
    async verifies(token, algorithm) {
      try {
        await compactVerify(token, resolve, { algorithms: [algorithm] });
        return true;
      } catch (thrown) {
        // A key that cannot be imported, such as a short RSA one, is an error of another class.
        if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) return false;
        if (thrown instanceof DOMException) return false;
        throw thrown;
      }
    },
  };
}

function canonicalText(jwk: JWK): string {
  return JSON.stringify(Object.entries(jwk).sort(([one], [other]) => (one < other ? -1 : 1)));
}
