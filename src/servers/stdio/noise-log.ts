// Counts what a server prints among its messages, and tells the operator of it now and then: once at first, for it is
// a fault of the server, and rarely after that, for it may go on for ever.
import type { Logger } from '../../telemetry/logger.ts';
import type { OutputSampler } from './output-sample.ts';

const LOG_EVERY_MS = 60_000;
const SAMPLE_CHARS = 200;

export class NoiseLog {
  readonly #logger: Logger;
  readonly #sampler: OutputSampler;
  #lines = 0;
  #loggedLines = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger, sampler: OutputSampler) {
    this.#logger = logger;
    this.#sampler = sampler;
  }

  get lines(): number {
    return this.#lines;
  }

  add(text: string): void {
    this.#lines += 1;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    const newLines = this.#lines - this.#loggedLines;
    this.#loggedAt = now;
    this.#loggedLines = this.#lines;
    this.#logger.warn(
      { lines: newLines, sample: this.#sampler.sample(text, SAMPLE_CHARS) },
      'the server printed what is no JSON-RPC message on its standard output; it was skipped',
    );
  }
}
