// Where an event stream can be taken up again, and after how long (WHATWG HTML, 9.2.3; 2025-11-25, transports).

/** What one stream, over all of its connections, has said about resuming it. */
export class ResumePoint {
  /** Undefined until the stream named one, and after it took it back. */
  lastEventId: string | undefined;
  /** The server's own `retry`. */
  retryMs: number | undefined;
  #progressed = false;

  moveTo(id: string): void {
    this.lastEventId = id === '' ? undefined : id;
    this.#progressed = true;
  }

  retryAfter(delayMs: number): void {
    this.retryMs = delayMs;
    this.#progressed = true;
  }

  /** A message came. */
  progressed(): void {
    this.#progressed = true;
  }

  /** A connection ended; one that held for a while was of use, though nothing was said on it. */
  ended(livedMs: number): void {
    if (livedMs >= SUSTAINED_MS) this.#progressed = true;
  }

  /** Whether the stream gave a sign of life since this was last asked. */
  takeProgress(): boolean {
    const progressed = this.#progressed;
    this.#progressed = false;
    return progressed;
  }
}

const SUSTAINED_MS = 5_000;
const DEFAULT_RETRY_MS = 1_000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 30_000;

/** The wait before the next connection: what the server asked for, doubled with each fruitless one. */
export function reconnectDelayMs(retryMs: number | undefined, fruitless: number): number {
  const first = Math.max(retryMs ?? DEFAULT_RETRY_MS, MIN_RETRY_MS);
  return Math.min(first * 2 ** Math.max(fruitless - 1, 0), MAX_RETRY_MS);
}
