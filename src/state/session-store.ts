// Where legacy sessions are remembered: a record under the hash of a random id, bound to a principal and a view.
import type { JsonObject } from '../protocol/json-text.ts';

export interface SessionRecord {
  /** principalKey of whoever initialized it; nobody else ever finds it. */
  readonly principal: string;
  /** The server of `/mcp/{server}`, or undefined for `/mcp`. */
  readonly view: string | undefined;
  /** The negotiated revision. */
  readonly version: string;
  readonly clientCapabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
}

export interface SessionStore {
  /**
   * Remembers a session. Its id is 256 random bits in visible ASCII, for the client alone.
   *
   * @throws GatewayError no-capacity at a cap; the words say nothing of counts
   */
  create(record: SessionRecord): Promise<StoredSession & { readonly id: string }>;
  /**
   * The live session of that id. Asking does not keep it alive, for whoever asks may not be its owner; `touch` does.
   * Ids that were never issued allocate nothing.
   */
  find(id: string): Promise<StoredSession | undefined>;
  /** Idempotent; `onEnded` has been told when it resolves. */
  end(key: string): Promise<void>;
  /** Starts the idle clock anew: the session was used, or has work in flight. */
  touch(key: string): void;
  /** Every end of a session, whatever ended it: one path for deletion and expiry (F04). */
  onEnded(listener: (key: string) => void): void;
  readonly size: number;
  close(): void;
}

export interface StoredSession {
  /** The hash of the id: fit for logs of ours and for keys, useless as an id. */
  readonly key: string;
  readonly record: SessionRecord;
}
