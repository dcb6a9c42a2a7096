// One line per exchange, from its record alone, so that no body, token, session id or query can be in it.
import type { ExchangeRecord } from './exchange-record.ts';
import type { Logger } from './logger.ts';

const MAX_TARGET_LENGTH = 200;

/** @param suppressed lines like it that were left out before it */
export function logExchange(logger: Logger, record: ExchangeRecord, suppressed = 0): void {
  const { httpStatus, outcome } = record;
  const line = {
    exchange: record.id,
    era: record.era,
    method: record.method,
    view: record.view,
    server: record.server,
    target: record.target === undefined ? undefined : loggable(record.target),
    version: record.protocolVersion,
    status: httpStatus,
    outcome,
    reason: record.reason,
    rule: record.rule,
    suppressed: suppressed === 0 ? undefined : suppressed,
    ms: rounded(record.durationMs),
    upstreamMs: rounded(record.upstreamMs),
  };
  if (httpStatus !== undefined && httpStatus >= 500) logger.warn(line, 'exchange');
  else logger.info(line, 'exchange');
}

/** A URI may carry a key in its query; names of tools have none. */
function loggable(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1);
  return path.length > MAX_TARGET_LENGTH ? `${path.slice(0, MAX_TARGET_LENGTH)}...` : path;
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 100) / 100;
}
