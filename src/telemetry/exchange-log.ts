// One line per exchange, from its record alone, so that no body, token, session id or query can be in it.
import { type ExchangeRecord, traceIdOfRecord } from './exchange-record.ts';
import { loggableTarget } from './loggable-target.ts';
import type { Logger } from './logger.ts';
import { roundedMs } from './rounded-ms.ts';

export type ExchangeLine = ReturnType<typeof exchangeLine>;

/** @param suppressed lines like it that were left out before it */
export function exchangeLine(record: ExchangeRecord, suppressed = 0) {
  return {
    exchange: record.id,
    era: record.era,
    method: record.method,
    view: record.view,
    server: record.server,
    target: record.target === undefined ? undefined : loggableTarget(record.target),
    version: record.protocolVersion,
    status: record.httpStatus,
    outcome: record.outcome,
    reason: record.reason,
    rule: record.rule,
    suppressed: suppressed === 0 ? undefined : suppressed,
    ms: roundedMs(record.durationMs),
    queueMs: roundedMs(record.queueMs),
    upstreamMs: roundedMs(record.upstreamMs),
    traceId: traceIdOfRecord(record),
  };
}

export function logExchange(logger: Logger, line: ExchangeLine): void {
  if (line.status !== undefined && line.status >= 500) logger.warn(line, 'exchange');
  else logger.info(line, 'exchange');
}
