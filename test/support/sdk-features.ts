// What the two SDK servers offer alike, so that one test holds for each of them; nothing here knows an SDK.

export const WELCOME = {
  uri: 'note://welcome',
  mimeType: 'text/plain',
  text: 'Welcome, ünïcode 🌍 included.',
};

export function noteText(name: string): string {
  return `A note called ${name}.`;
}

export function greeting(name: string): string {
  return `Greet ${name} warmly.`;
}

/** Remembers which waiting calls were cancelled, for the test that asks whether its cancellation arrived. */
export class Cancellations {
  readonly #cancelled = new Set<string>();
  readonly #changed = new EventTarget();

  /** Waits until the call is cancelled; nothing else ends it. */
  async waitForCancel(tag: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#cancelled.add(tag);
    this.#changed.dispatchEvent(new Event(tag));
  }

  /** Whether the call was cancelled, having given it up to `timeoutMs` to be. */
  async wasCancelled(tag: string, timeoutMs = 10_000): Promise<boolean> {
    if (this.#cancelled.has(tag)) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      const seen = () => {
        clearTimeout(timer);
        resolve(true);
      };
      this.#changed.addEventListener(tag, seen, { once: true });
    });
  }
}
