// Where an event stream can be taken up again, and after how long (WHATWG HTML, 9.2.3; 2025-11-25, transports).

/** What one stream, over all of its connections, has said about resuming it, and how its connections have ended. */
export class ResumePoint {
  /** Undefined until the stream named one, and after it took it back. */
  lastEventId: string | undefined;
  /** Connections in a row that gave no sign of life. */
  fruitless = 0;
  /** The server's own `retry`. */
  #retryMs: number | undefined;
  /** Connections in a row that brought no message: such a server is polled, and not at whatever rate it names. */
  #wordless = 0;
  #alive = false;
  #spoke = false;

  moveTo(id: string): void {
    this.lastEventId = id === '' ? undefined : id;
    this.#alive = true;
  }

  retryAfter(delayMs: number): void {
    this.#retryMs = delayMs;
    this.#alive = true;
  }

  /** A message came. */
  progressed(): void {
    this.#spoke = true;
  }

  /** A connection ended; one that held for a while was of use, though nothing was said on it. */
  ended(livedMs: number): void {
    if (livedMs >= SUSTAINED_MS) this.#spoke = true;
  }

  /**
   * Counts the connection, or the attempt at one, that is over.
   *
   * @param maxPollMs the longest wait for a server that is there and says nothing
   * @returns the wait before the next one
   */
  nextDelayMs(maxPollMs: number): number {
    this.fruitless = this.#alive || this.#spoke ? 0 : this.fruitless + 1;
    this.#wordless = this.#spoke ? 0 : this.#wordless + 1;
    this.#alive = false;
    this.#spoke = false;
    const askedMs = Math.max(this.#retryMs ?? DEFAULT_RETRY_MS, MIN_RETRY_MS);
    const outageMs = Math.min(grown(askedMs, this.fruitless - 1), MAX_RETRY_MS);
    const pollMs = Math.min(grown(askedMs, this.#wordless - PATIENT_POLLS), maxPollMs);
    return Math.max(outageMs, pollMs);
  }
}

const SUSTAINED_MS = 5_000;
const DEFAULT_RETRY_MS = 1_000;
/** No server is asked more often than this, whatever it says. */
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 30_000;
/** So many connections without a message are taken as the server wants it. */
const PATIENT_POLLS = 3;

function grown(firstMs: number, doublings: number): number {
  return firstMs * 2 ** Math.max(doublings, 0);
}
