// A child's stderr: always read, or the child would freeze on a full pipe; of what it says, a few lines a second reach
// the log, and the last few kilobytes are kept for the day it dies. That it says something is no sign of an error.
import type { Logger } from '../../telemetry/logger.ts';
import type { OutputSampler } from './output-sample.ts';

const LF = 0x0a;
const LINES_PER_SECOND = 20;
const MAX_LINE_BYTES = 2_048;
const MAX_LOGGED_CHARS = 500;
const TAIL_BYTES = 4_096;

export interface StderrLogOptions {
  readonly logger: Logger;
  readonly sampler: OutputSampler;
}

/** Costs at most a copy of {@link TAIL_BYTES} and twenty log lines a second, however much is written. */
export class StderrLog {
  readonly #options: StderrLogOptions;
  #lines = 0;
  /** The beginning of an unfinished line; what is beyond MAX_LINE_BYTES is never kept. */
  #partial = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #tailIsCut = false;
  #windowStart = 0;
  #loggedInWindow = 0;
  #suppressed = 0;

  constructor(options: StderrLogOptions) {
    this.#options = options;
  }

  get lines(): number {
    return this.#lines;
  }

  push(chunk: Buffer): void {
    this.#remember(chunk);
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#line(chunk.subarray(start, end));
      start = end + 1;
    }
    const room = MAX_LINE_BYTES - this.#partial.length;
    if (start < chunk.length && room > 0) {
      this.#partial = Buffer.concat([this.#partial, chunk.subarray(start, start + room)]);
    }
  }

  end(): void {
    if (this.#partial.length > 0) this.#line(Buffer.alloc(0));
  }

  /** The last words, masked, beginning with a whole line where there is one. */
  get tail(): string {
    const text = this.#tail.toString('utf8');
    // The cut may go through a secret, which no mask would know by its second half.
    const whole = this.#tailIsCut ? text.replace(/^[^\n]*\n|^\S*\s?/, '') : text;
    return this.#options.sampler.mask(whole).trim();
  }

  #line(rest: Buffer): void {
    this.#lines += 1;
    const beginning = this.#partial;
    this.#partial = Buffer.alloc(0);
    const { logger, sampler } = this.#options;
    if (!logger.isLevelEnabled('debug') || !this.#mayLog()) return;
    const bytes = beginning.length === 0 ? rest : Buffer.concat([beginning, rest]);
    const text = sampler.sample(bytes.toString('utf8', 0, MAX_LINE_BYTES), MAX_LOGGED_CHARS);
    if (text !== '') logger.debug({ stderr: text }, 'the server wrote to stderr');
  }

  #mayLog(): boolean {
    const now = performance.now();
    if (now - this.#windowStart >= 1_000) {
      if (this.#suppressed > 0) {
        this.#options.logger.debug({ lines: this.#suppressed }, 'more stderr lines were not logged');
      }
      this.#windowStart = now;
      this.#loggedInWindow = 0;
      this.#suppressed = 0;
    }
    const may = this.#loggedInWindow < LINES_PER_SECOND;
    if (may) this.#loggedInWindow += 1;
    else this.#suppressed += 1;
    return may;
  }

  #remember(chunk: Buffer): void {
    const joined = chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tailIsCut ||= joined.length > TAIL_BYTES || joined === chunk;
    // Copied: a slice would keep the whole chunk alive.
    this.#tail = Buffer.from(joined.subarray(-TAIL_BYTES));
  }
}
