// What the operator learns of an exchange that failed, whichever listener it came in by.
import type { GatewayError } from '../errors.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Logger } from '../telemetry/logger.ts';

export function reportFailure(logger: Logger, error: GatewayError, record: ExchangeRecord): void {
  record.reason ??= error.details.reason;
  if (error.code === 'internal')
    logger.error({ incidentId: record.id, err: error.cause ?? error }, 'internal error');
}
