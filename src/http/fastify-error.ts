// Fastify's own failures in the words of our table.
import { GatewayError, toGatewayError } from '../errors.ts';

const FAILURE_OF: Readonly<Record<string, 'path-unknown'>> = {
  FST_ERR_BAD_URL: 'path-unknown',
  FST_ERR_MAX_PARAM_LENGTH: 'path-unknown',
  FST_ERR_NOT_FOUND: 'path-unknown',
};

export function fromFastifyError(thrown: unknown): GatewayError {
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  if (thrown instanceof GatewayError || typeof code !== 'string' || !code.startsWith('FST_')) {
    return toGatewayError(thrown);
  }
  const known = FAILURE_OF[code];
  if (known !== undefined) return new GatewayError(known, { cause: thrown });
  const isClientsFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return new GatewayError(isClientsFault ? 'request-malformed' : 'internal', { cause: thrown });
}
