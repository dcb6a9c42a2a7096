// The keys with which Portico says who calls: one signs, all are published. The same keys make the same set in every
// replica, so that what one signs is verified with what another publishes.
import { createHash, type KeyObject } from 'node:crypto';
import { type JWK, SignJWT } from 'jose';
import type { IdentityAlgorithm, IdentityKey } from '../config/identity-key.ts';
import { parseIdentityKey } from '../config/identity-key.ts';
import type { IdentityConfig } from '../config/server-auth-config.ts';
import type { IdentityClaims, IdentitySigner } from '../servers/credentials/identity-signer.ts';

export interface PublishedKeys {
  readonly keys: readonly JWK[];
}

export class IdentityKeys implements IdentitySigner {
  /** The document at /.well-known/jwks.json. */
  readonly published: PublishedKeys;
  readonly #issuer: string;
  readonly #key: KeyObject;
  readonly #header: { readonly alg: IdentityAlgorithm; readonly kid: string; readonly typ: 'JWT' };

  /**
   * @param issuer the `iss` of what is signed: our public URL
   * @throws Error where the config was not checked
   */
  constructor({ key, next, previous }: IdentityConfig, issuer: string) {
    const signing = parseIdentityKey(key);
    if (signing.privateKey === undefined) throw new Error('the key that signs must be a private one');
    this.#issuer = issuer;
    this.#key = signing.privateKey;
    this.#header = { alg: signing.algorithm, kid: thumbprint(signing.publicKey), typ: 'JWT' };
    const others = [...next, ...previous].map((text) => parseIdentityKey(text));
    const keys = new Map([signing, ...others].map(publishedKey).map((jwk) => [jwk.kid, jwk]));
    this.published = { keys: [...keys.values()] };
  }

  sign(claims: IdentityClaims): Promise<string> {
    return new SignJWT({ ...claims, iss: this.#issuer, groups: [...claims.groups] })
      .setProtectedHeader(this.#header)
      .sign(this.#key);
  }
}

function publishedKey({ algorithm, publicKey }: IdentityKey): JWK {
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  return { ...jwk, kid: thumbprint(publicKey), alg: algorithm, use: 'sig' };
}

/** RFC 7638: what a key is, in the order of the alphabet. */
function thumbprint(publicKey: KeyObject): string {
  const { crv, e, kty, n, x, y } = publicKey.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, e, kty, n, x, y })).digest('base64url');
}
