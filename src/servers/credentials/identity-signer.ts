// Who signs what servers are told of a caller: the keys are not known here.

export interface IdentityClaims {
  readonly aud: string;
  readonly sub: string;
  readonly client_id: string;
  readonly groups: readonly string[];
  /** The issuer that the subject signed in at. */
  readonly idp: string;
  readonly jti: string;
  /** Seconds. */
  readonly iat: number;
  readonly exp: number;
}

/** Signs with the key that is in use, and puts `iss` to the claims. */
export interface IdentitySigner {
  sign(claims: IdentityClaims): Promise<string>;
}
