// One line per exchange, from its record alone, so that no body, token, session id or query can be in it.
import { type ExchangeRecord, traceIdOfRecord } from './exchange-record.ts';
import { loggableTarget } from './loggable-target.ts';
import type { Logger } from './logger.ts';
import { roundedMs } from './rounded-ms.ts';

/** @param suppressed lines like it that were left out before it */
export function logExchange(logger: Logger, record: ExchangeRecord, suppressed = 0): void {
  const { httpStatus, outcome } = record;
  const line = {
    exchange: record.id,
    era: record.era,
    method: record.method,
    view: record.view,
    server: record.server,
    target: record.target === undefined ? undefined : loggableTarget(record.target),
    version: record.protocolVersion,
    status: httpStatus,
    outcome,
    reason: record.reason,
    rule: record.rule,
    suppressed: suppressed === 0 ? undefined : suppressed,
    ms: roundedMs(record.durationMs),
    queueMs: roundedMs(record.queueMs),
    upstreamMs: roundedMs(record.upstreamMs),
    traceId: traceIdOfRecord(record),
  };
  if (httpStatus !== undefined && httpStatus >= 500) logger.warn(line, 'exchange');
  else logger.info(line, 'exchange');
}
