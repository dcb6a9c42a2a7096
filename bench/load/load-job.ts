// What the load generator is told to do, and what it tells of it.

export interface LoadRequest {
  /** Head and body as they go on the wire. */
  readonly bytes: string;
  /** As it has to stand in the answer. */
  readonly id: string;
}

export interface LoadJob {
  readonly port: number;
  /** Sent in turn, over all connections. */
  readonly requests: readonly LoadRequest[];
  /** Connections, each with one request at a time. */
  readonly concurrency: number;
  readonly forMs: number;
  /** How many are to be sent, whether or not answers keep up; without it, as many as are answered. */
  readonly perSecond?: number;
  /** What an answer's body has to have at least. */
  readonly leastBytes: number;
}

export interface LoadOutcome {
  readonly answered: number;
  /** With those that were still open when time was up. */
  readonly finished: number;
  /** Answers that were none or the wrong one, and the first of them. */
  readonly failed: number;
  readonly firstFailure: string | undefined;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
