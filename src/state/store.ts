// What replicas share, seen by its users: counters with windows, and how many replicas there are. One contract, in
// process or in Redis. Each use decides for itself what it does without it.

/** Some of what may be used in a window. */
export interface Take {
  /** What is counted apart from what; short, as it names the counter. */
  readonly key: string;
  /** At least 1. */
  readonly amount: number;
  /** Most that a window holds. */
  readonly max: number;
  /** The window begins with the first amount taken from it, and ends for all of them at once. */
  readonly windowMs: number;
}

export type TakeOutcome =
  | { readonly taken: true }
  | {
      readonly taken: false;
      /** Index of the take that has to wait longest. */
      readonly refused: number;
      readonly retryAfterMs: number;
    };

export interface Grant {
  /** 0 where nothing is left. */
  readonly amount: number;
  /** Until the window ends that it was taken from. */
  readonly endsInMs: number;
}

export interface Store {
  /**
   * Takes every amount or none, so that what one counter refuses costs nothing of another. There is no signal to stop
   * it: the wait is bounded, and an amount that is on its way cannot be called back.
   *
   * @throws StoreUnavailable
   */
  take(takes: readonly Take[]): Promise<TakeOutcome>;
  /** The same at once; absent where taking takes its time. */
  takeNow?(takes: readonly Take[]): TakeOutcome;
  /**
   * Takes as much of the amount as is left.
   *
   * @throws StoreUnavailable
   */
  takeUpTo(take: Take): Promise<Grant>;
  /** False while it is known that asking is no use. */
  readonly available: boolean;
  /** Replicas that use the store, this one among them, as last heard. */
  readonly replicas: number;
  /** Connects; resolves when the store is available, or when it has become plain that it will take longer. */
  open(): Promise<void>;
  /** Idempotent, never rejects. */
  close(): Promise<void>;
}

/** The store did not answer, or not in time. Whether it has counted, nobody knows. */
export class StoreUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailable';
  }
}

/** The store is well, and what it has under that one key is nothing that we have written. */
export class ForeignValue extends StoreUnavailable {
  constructor(cause: unknown) {
    super('Redis has a value of another kind under the key', cause);
    this.name = 'ForeignValue';
  }
}
