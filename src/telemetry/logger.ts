// The one logger: pino, JSON lines on standard error, each redacted as a whole just before it is written.
import {
  type DestinationStream,
  destination as openDestination,
  type Logger as PinoLogger,
  pino,
} from 'pino';
import { createRedact, type Redact } from './redaction.ts';

export type Logger = PinoLogger;

export interface LogSettings {
  readonly level: string;
  /** Values that must never appear in a line, wherever they turn up. */
  readonly secrets: readonly string[];
}

export interface LoggerOptions extends LogSettings {
  /** Standard error, buffered, when absent. */
  readonly destination?: DestinationStream;
}

/** Each write is a task for another thread: fewer of them cost less (bench: small). Whatever waits goes out after 200 ms. */
const BUFFER_BYTES = 32 * 1024;
/** A fuller buffer would be cut into several writes. */
const MAX_WRITE_BYTES = 64 * 1024;
const FLUSH_EVERY_MS = 200;
/** What nobody reads is dropped once this much of it waits: it may neither hold up calls nor fill the memory (F13). */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const STANDARD_ERROR = 2;

export function createLogger({ level, secrets, destination = standardError() }: LoggerOptions): Logger {
  let redact = createRedact(secrets);
  const known = new Set(secrets);
  // After serialization nothing can add to the line any more: not a serializer, not an error's own properties.
  const redacted: DestinationStream & { flush(callback: (error?: Error) => void): void } = {
    write: (line) => destination.write(redact(line)),
    flush: (callback) => flushOf(destination, callback),
  };
  const children = new Set<WeakRef<Logger>>();
  const forgotten = new FinalizationRegistry<WeakRef<Logger>>((child) => children.delete(child));
  const onChild = (child: Logger) => {
    const reference = new WeakRef(child);
    children.add(reference);
    forgotten.register(child, reference);
  };
  const logger = pino({ level, base: null, onChild }, redacted);
  redactions.set(logger, (text) => redact(text));
  lineWriters.set(logger, redacted.write);
  adjustments.set(logger, (settings) => {
    // What was secret stays so: it may still be on its way through what is being ended.
    for (const secret of settings.secrets) known.add(secret);
    redact = createRedact([...known]);
    logger.level = settings.level;
    for (const child of children) {
      const live = child.deref();
      if (live !== undefined) live.level = settings.level;
    }
  });
  return logger;
}

const redactions = new WeakMap<Logger, Redact>();

/** What takes the secrets out of this logger's lines, for other text that is shown to an operator. */
export function redactionOf(logger: Logger): Redact {
  return redactions.get(logger) ?? createRedact([]);
}

const lineWriters = new WeakMap<Logger, (line: string) => void>();

/** Writes a finished line, with its line feed, and redacts it as all others; undefined for a child. */
export function lineWriterOf(logger: Logger): ((line: string) => void) | undefined {
  return lineWriters.get(logger);
}

const adjustments = new WeakMap<Logger, (settings: LogSettings) => void>();

/** Gives a logger, and all its children, another level, and more secrets to keep. */
export function adjustLogger(logger: Logger, settings: LogSettings): void {
  adjustments.get(logger)?.(settings);
}

/** pino flushes it when the process exits, whatever the reason short of SIGKILL. */
function standardError(): DestinationStream & Flushable {
  const stream = openDestination({
    dest: STANDARD_ERROR,
    minLength: BUFFER_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
    maxLength: MAX_WAITING_BYTES,
    sync: false,
    // Of text it would measure all that waits again with each line.
    contentMode: 'buffer',
  }) as unknown as { write(bytes: Buffer): boolean } & Flushable;
  return {
    write: (line) => stream.write(Buffer.from(line)),
    flush: (callback) => stream.flush(callback),
  };
}

interface Flushable {
  flush(callback: (error?: Error) => void): void;
}

function flushOf(destination: DestinationStream, callback: (error?: Error) => void): void {
  const { flush } = destination as { flush?: (callback: (error?: Error) => void) => void };
  if (flush === undefined) callback();
  else flush.call(destination, callback);
}
