// One line per exchange, from its record alone, so that no body, token, session id or query can be in it.
import { type ExchangeRecord, traceIdOfRecord } from './exchange-record.ts';
import { loggableTarget } from './loggable-target.ts';
import { type Logger, lineWriterOf } from './logger.ts';
import { roundedMs } from './rounded-ms.ts';

const MESSAGE = 'exchange';

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
  const level = line.status !== undefined && line.status >= 500 ? 'warn' : 'info';
  const write = lineWriterOf(logger);
  if (write === undefined) logger[level](line, MESSAGE);
  else if (logger.isLevelEnabled(level)) write(lineText(line, logger.levels.values[level]));
}

/** As pino writes it, which looks at each character of names and values: three times as long (bench: small). */
function lineText(line: ExchangeLine, level: number | undefined): string {
  const members = JSON.stringify(line).slice(1, -1);
  return `{"level":${level},"time":${Date.now()},${members},"msg":"${MESSAGE}"}\n`;
}
