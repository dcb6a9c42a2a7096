// The severities of MCP log messages, those of RFC 5424, from the most talkative to the gravest.

export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.includes(value as LogLevel);
}

/** True when a message of `level` is at least as grave as `asked`. */
export function isAtLeastAsGrave(level: LogLevel, asked: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(asked);
}

/** The most talkative of several, or undefined of none. */
export function mostTalkative(levels: Iterable<LogLevel>): LogLevel | undefined {
  const asked = new Set(levels);
  return LOG_LEVELS.find((level) => asked.has(level));
}
