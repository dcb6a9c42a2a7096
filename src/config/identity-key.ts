// Keys of `gateway.identity`: PEM or JWK, private or public, of the few kinds that every verifier knows.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

export type IdentityAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

export interface IdentityKey {
  readonly algorithm: IdentityAlgorithm;
  readonly publicKey: KeyObject;
  /** Undefined for a public key, which can be published and no more. */
  readonly privateKey: KeyObject | undefined;
}

const MIN_RSA_BITS = 2048;

/** Whether a text is a key rather than the name of a file. */
export function isKeyText(text: string): boolean {
  return text.includes('-----BEGIN ') || text.trimStart().startsWith('{');
}

/** @throws Error whose message completes "this key is of no use: ..." and holds nothing of it */
export function parseIdentityKey(text: string): IdentityKey {
  const privateKey = attempt(() => createPrivateKey(keyInput(text)));
  const publicKey =
    privateKey === undefined ? attempt(() => createPublicKey(keyInput(text))) : createPublicKey(privateKey);
  if (publicKey === undefined) {
    throw new Error('it is neither PEM nor JWK, or it is encrypted');
  }
  return { algorithm: algorithmOf(publicKey), publicKey, privateKey };
}

type KeyInput = string | { readonly key: JsonWebKey; readonly format: 'jwk' };

function keyInput(text: string): KeyInput {
  return text.trimStart().startsWith('{') ? { key: JSON.parse(text) as JsonWebKey, format: 'jwk' } : text;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): IdentityAlgorithm {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  if (asymmetricKeyType !== 'rsa') throw new Error('only EC P-256, Ed25519 and RSA keys are understood');
  if ((asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new Error('it has less than 2048 bits');
  return 'RS256';
}
