// Keys with which a gateway signs who calls.
import { type Algorithm, signingKey } from './token-issuer.ts';

/** A new private key, PEM. */
export function pemOf(algorithm: Exclude<Algorithm, 'PS256'>): string {
  return signingKey(algorithm).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}
