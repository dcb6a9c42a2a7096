// Where legacy sessions are remembered: a record under the hash of a random id, bound to a principal and a view. One
// contract, in process or shared by all replicas; then a session lives on one of them, its owner, and may change hands.
import type { JsonObject } from '../protocol/json-text.ts';

/** What a session is from its first moment to its last. */
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

/** What becomes of it while it is used: what another replica needs to go on with it. */
export interface SessionState {
  readonly initialized: boolean;
  readonly logLevel: string | undefined;
  /** It has asked for a child process of its own: what that one knows ends with the replica. */
  readonly hasProcess: boolean;
  /** The resources that it is subscribed to at modern servers, by slug. */
  readonly subscriptions: Readonly<Record<string, readonly string[]>>;
  /** Its sessions at legacy HTTP servers, by slug; sealed. */
  readonly upstreamSessions: Readonly<Record<string, string>>;
}

export const NEW_STATE: SessionState = {
  initialized: false,
  logLevel: undefined,
  hasProcess: false,
  subscriptions: {},
  upstreamSessions: {},
};

export interface StoredSession {
  /** The hash of the id: fit for logs of ours and for keys, useless as an id. */
  readonly key: string;
  readonly record: SessionRecord;
  readonly state: SessionState;
  /** The id of the replica that it lives on; undefined where it has been left to whoever is asked next. */
  readonly owner: string | undefined;
  /** Another one whenever anything of it has changed. */
  readonly stamp: string;
}

/** over: it is no more. moved: another replica has it now, and goes on with what it has at servers. */
export type SessionLoss = 'over' | 'moved';

export interface SessionLimits {
  readonly idleTimeoutMs: number;
  readonly maxAgeMs: number;
  readonly max: number;
  readonly maxPerPrincipal: number;
}

/** What has to be known, or written, before a request goes on throws GatewayError store-unavailable where it cannot. */
export interface SessionStore {
  /**
   * Remembers a session, which lives here. Its id is 256 random bits in visible ASCII, for the client alone.
   *
   * @throws GatewayError no-capacity at a cap; the words say nothing of counts
   */
  create(record: SessionRecord): Promise<StoredSession & { readonly id: string }>;
  /**
   * The live session of that id. Asking does not keep it alive, for whoever asks may not be its owner; `touch` does.
   * Ids that were never issued allocate nothing.
   */
  find(id: string): Promise<StoredSession | undefined>;
  /** Of a session that lives here. Idempotent, never rejects; `onLost` has been told when it resolves. */
  end(key: string): Promise<void>;
  /** Starts the idle clock anew: the session was used, or has work in flight. */
  touch(key: string): void;
  /** Remembers what became of a session that lives here. Once it resolves, a successor will know. */
  save(key: string, state: SessionState): Promise<void>;
  /**
   * Takes over a session as it was found. Of several who try, one gets it.
   *
   * @returns the session as it is now, whoever has it; undefined where it is no more
   */
  take(found: StoredSession): Promise<StoredSession | undefined>;
  /** Leaves a session that lives here to whoever is asked for it next. Never rejects; `onLost` has been told then. */
  leave(key: string): Promise<void>;
  /** Ends a session that lives elsewhere, if its owner is still as it was found. @returns whether it is no more */
  remove(found: StoredSession): Promise<boolean>;
  /** Looks whether a session that should live here still does; `onLost` is told where it does not. Never throws. */
  check(key: string): Promise<void>;
  /** Every way in which a session ceases to live here: one path for deletion, expiry and another owner (F04). */
  onLost(listener: (key: string, loss: SessionLoss) => void): void;
  /** Also for sessions that are open. */
  applyLimits(limits: SessionLimits): void;
  close(): Promise<void>;
}
