// Why a token is not accepted: one word for our own log line, and the same vague answer for whoever sent it.
import { GatewayError } from '../../errors.ts';

export type TokenRefusal =
  | 'token_in_query'
  | 'token_repeated'
  | 'token_malformed'
  | 'token_too_long'
  | 'token_opaque'
  | 'token_issuer'
  | 'token_algorithm'
  | 'token_critical'
  | 'token_kind'
  | 'token_bound'
  | 'token_audience'
  | 'token_view'
  | 'token_subject'
  | 'token_times'
  | 'token_expired'
  | 'token_not_yet'
  | 'token_key_unknown'
  | 'token_signature'
  | 'token_inactive';

export function tokenRefused(reason: TokenRefusal, cause?: unknown): GatewayError {
  return new GatewayError('token-invalid', { reason, cause });
}
