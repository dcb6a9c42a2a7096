// What the two SDK servers offer alike, so that one test holds for each of them; nothing here knows an SDK.

export const TOOL_NAMES = [
  'add',
  'add_tool',
  'ask_both',
  'ask_model',
  'ask_name',
  'ask_roots',
  'ask_twice',
  'ask_with_tools',
  'count',
  'echo',
  'fail',
  'log',
  'mirror',
  'remove_tool',
  'touch',
  'visit',
  'wait',
  'was_cancelled',
];

export const WELCOME = {
  uri: 'note://welcome',
  mimeType: 'text/plain',
  text: 'Welcome, ünïcode 🌍 included.',
};

/** One a page, whatever the SDK would do by itself. */
export const PROMPT_PAGES = ['farewell', 'greet', 'thanks'];

/** Where a `visit` sends the user. */
export const SIGN_UP_URL = 'https://example.com/sign-up?ticket=7';
/** A key of somebody's own in `_meta`: it survives every crossing. */
export const OWN_META = 'example.com/mark';

const NAMES = ['Ada', 'Alan', 'Grace'];

export function noteText(name: string): string {
  return `A note called ${name}.`;
}

export function greeting(name: string): string {
  return `Greet ${name} warmly.`;
}

/** Completions for a name, which depend on what has been chosen before. */
export function completeName(typed: string | undefined, style: string | undefined): string[] {
  const title = style === 'formal' ? 'Dr. ' : '';
  return NAMES.map((name) => title + name).filter((name) => name.startsWith(typed ?? ''));
}

/** The lines of the tool `log`, from the least grave on. */
export const LOG_LINES = [
  { level: 'debug', data: 'a detail' },
  { level: 'info', data: 'a fact' },
  { level: 'warning', data: 'a doubt' },
  { level: 'error', data: 'a failure' },
] as const;

/** The lines that somebody hears who asked for `level`. */
export function linesFrom(level: string): (typeof LOG_LINES)[number][] {
  const first = LOG_LINES.findIndex((line) => line.level === level);
  return first < 0 ? [] : LOG_LINES.slice(first);
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
