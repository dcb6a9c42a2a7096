// Every clock and size of the HTTP servers, in one place. They are options of the servers, so that tests can be
// quick; the defaults here are what an operator gets.

export interface HttpTiming {
  /** An idle connection is kept this long: longer than the 60 s of common load balancers, so that they close first. */
  readonly keepAliveTimeoutMs: number;
  /** The headers must be here by then. Above `keepAliveTimeoutMs`: some Node versions count idle time towards it. */
  readonly headersTimeoutMs: number;
  /** The whole request, body included, must be here by then; it does not bound the answer. */
  readonly requestTimeoutMs: number;
  /** How often Node looks for connections past the two limits above. */
  readonly connectionsCheckMs: number;
  /** Request line and headers together: room for large tokens and `Mcp-Param-*`, and no more. */
  readonly maxHeaderBytes: number;
  /** Each event stream carries one comment line this often, or idle proxies cut it. */
  readonly keepAliveCommentMs: number;
  /** Bytes that a client may leave unread on one reply before that reply ends; one message always fits. */
  readonly maxQueuedReplyBytes: number;
  /** A client that reads nothing for this long, while bytes wait for it, loses its connection. */
  readonly stallTimeoutMs: number;
  /** A body that was refused is read and thrown away up to these, so that the client sees the answer. */
  readonly lingerMs: number;
  readonly lingerBytes: number;
  /** What `close` waits for the last bytes of open replies. */
  readonly closeFlushMs: number;
}

export const DEFAULT_HTTP_TIMING: HttpTiming = {
  keepAliveTimeoutMs: 75_000,
  headersTimeoutMs: 80_000,
  requestTimeoutMs: 120_000,
  connectionsCheckMs: 5_000,
  maxHeaderBytes: 32 * 1024,
  keepAliveCommentMs: 15_000,
  maxQueuedReplyBytes: 4 * 1024 * 1024,
  stallTimeoutMs: 60_000,
  lingerMs: 2_000,
  lingerBytes: 16 * 1024 * 1024,
  closeFlushMs: 1_000,
};
