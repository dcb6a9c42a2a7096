// Word of changed lists, told once for what several servers say within a moment: each kind at most once.

/** A restart of several servers is one change to a client. */
const GATHER_MS = 50;
const NONE: readonly string[] = [];

export class CoalescedChanges {
  readonly #tell: (method: string) => void;
  #due: readonly string[] = NONE;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (method: string) => void) {
    this.#tell = tell;
  }

  note(method: string): void {
    if (!this.#due.includes(method)) this.#due = [...this.#due, method];
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Tells what is due now. */
  flush(): void {
    this.#stop();
    const due = this.#due;
    this.#due = NONE;
    for (const method of due) this.#tell(method);
  }

  /** What is due is not told any more. */
  close(): void {
    this.#stop();
    this.#due = NONE;
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
