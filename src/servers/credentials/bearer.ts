// A fixed bearer token: everyone's, and without another one to try where the server refuses it.
import type { CredentialSource } from './credential.ts';

export function bearerSource(token: string): CredentialSource {
  const credential = { token, expiresAtMs: undefined };
  return {
    personal: false,
    credentialFor: () => Promise.resolve(credential),
    forget: () => false,
  };
}
