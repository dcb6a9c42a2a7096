// One line when something begins to fail, one a minute while it goes on, one when it works again.
import type { Logger } from '../../telemetry/logger.ts';

export interface OutageWords {
  readonly failing: string;
  readonly back: string;
}

const REPEAT_MS = 60_000;

export class OutageLog {
  readonly #logger: Logger;
  readonly #words: OutageWords;
  readonly #now: () => number;
  #loggedAtMs: number | undefined;

  constructor(logger: Logger, words: OutageWords, now: () => number) {
    this.#logger = logger;
    this.#words = words;
    this.#now = now;
  }

  failed(err: unknown): void {
    const now = this.#now();
    if (this.#loggedAtMs !== undefined && now - this.#loggedAtMs < REPEAT_MS) return;
    this.#loggedAtMs = now;
    this.#logger.warn({ err }, this.#words.failing);
  }

  worked(): void {
    if (this.#loggedAtMs === undefined) return;
    this.#loggedAtMs = undefined;
    this.#logger.info(this.#words.back);
  }
}
