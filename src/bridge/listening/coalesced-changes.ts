// Word of changed lists, told once for what several servers say within a moment: each kind at most once.

/** A restart of several servers is one change to a client. */
const GATHER_MS = 50;

export class CoalescedChanges {
  readonly #tell: (method: string) => void;
  readonly #due = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (method: string) => void) {
    this.#tell = tell;
  }

  note(method: string): void {
    this.#due.add(method);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Tells what is due now. */
  flush(): void {
    this.#stop();
    const due = [...this.#due];
    this.#due.clear();
    for (const method of due) this.#tell(method);
  }

  /** What is due is not told any more. */
  close(): void {
    this.#stop();
    this.#due.clear();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
