// Who is calling. Sessions, isolation and sealed state bind to it; never to the bytes of a token.

export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
}

export const ANONYMOUS: Principal = {
  issuer: '',
  subject: 'anonymous',
  clientId: '',
  scopes: [],
  groups: [],
};

/** One text for one principal, unambiguous whatever the parts contain. */
export function principalKey({ issuer, subject, clientId }: Principal): string {
  return JSON.stringify([issuer, subject, clientId]);
}
