// Puts a failure into the record of its exchange; what nobody foresaw is logged with an id that its answer names.
import { GatewayError, toGatewayError } from '../errors.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Logger } from '../telemetry/logger.ts';

/** @returns the failure as a client may be told of it */
export function noteFailure(logger: Logger, record: ExchangeRecord, thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  record.outcome = error.code;
  record.reason = error.details.reason;
  if (error.code !== 'internal') return error;
  logger.error({ incidentId: record.id, err: error.cause ?? error }, 'internal error');
  return new GatewayError('internal', { ...error.details, data: { incidentId: record.id } });
}
