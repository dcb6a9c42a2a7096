// From a request's headers and query to the one bearer token that it carries (RFC 6750, section 2). Pure.
import { GatewayError } from '../../errors.ts';
import { tokenRefused } from './token-refusal.ts';

export interface SignInAttempt {
  /** The value of each Authorization header, in order. */
  readonly authorization: readonly string[] | undefined;
  /** The query has an `access_token`. */
  readonly tokenInQuery: boolean;
  /** The server named by `/mcp/{server}`, or undefined on `/mcp`. */
  readonly view: string | undefined;
}

/** Far above any token in use; nothing larger is decoded. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;
const USUAL_SCHEME = 'Bearer ';
const BEARER = /^bearer(?: +(.*))?$/i;
/** RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The token of a request that is written as nearly all are, unchecked: good for a look among tokens that have been read
 * by {@link readBearerToken} before, which spares most requests its two patterns, 1 us.
 */
export function usualToken({ authorization, tokenInQuery }: SignInAttempt): string | undefined {
  if (tokenInQuery || authorization?.length !== 1) return undefined;
  const [value] = authorization;
  return value?.startsWith(USUAL_SCHEME) ? value.slice(USUAL_SCHEME.length) : undefined;
}

/** @throws GatewayError token-missing, or token-invalid where something was sent that is no usable token */
export function readBearerToken({ authorization = [], tokenInQuery }: SignInAttempt): string {
  // A URL ends up in logs and histories: honouring one token there would invite the next.
  if (tokenInQuery) throw tokenRefused('token_in_query');
  if (authorization.length > 1) throw tokenRefused('token_repeated');
  const [, token = ''] = BEARER.exec(authorization[0] ?? '') ?? [];
  if (token === '') throw new GatewayError('token-missing');
  if (token.length > MAX_TOKEN_CHARACTERS) throw tokenRefused('token_too_long');
  if (!TOKEN.test(token)) throw tokenRefused('token_malformed');
  return token;
}
