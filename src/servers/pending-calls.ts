// The open calls of one wire. Ids and progress tokens are minted here and the caller's restored, so that no caller's
// id or token ever decides where an answer goes.
import {
  type JsonRpcId,
  type JsonRpcNotification,
  type JsonRpcOutcome,
  type JsonRpcRequest,
  readId,
} from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';
import { FleetingMap } from '../runtime/fleeting-map.ts';
import type { ServerMessage, UpstreamCall } from './transport.ts';

const PROGRESS = 'notifications/progress';

/** All calls that one wire has open, by the ids that it minted: 1, 2, 3, ... */
export class PendingCalls {
  readonly #open = new FleetingMap<number, PendingCall>();
  #lastId = 0;

  get size(): number {
    return this.#open.size;
  }

  /**
   * Registers a call; do so before its request is written. When the caller aborts, the call is closed and fails with
   * the signal's reason, then `onAborted` runs, to tell the server.
   *
   * @throws the signal's reason when it has aborted already
   */
  open(call: UpstreamCall, onAborted: (pending: PendingCall) => void): PendingCall {
    call.signal.throwIfAborted();
    this.#lastId += 1;
    const pending = new PendingCall(this.#lastId, call, { open: this.#open, onAborted });
    this.#open.set(pending.id, pending);
    return pending;
  }

  /** The open call that a server means by `id`, be it the id of an answer, a subscription id or a progress token. */
  find(id: JsonValue | undefined): PendingCall | undefined {
    const minted = mintedId(id);
    return minted === undefined ? undefined : this.#open.get(minted);
  }

  /**
   * Hands a progress notification to the call whose token it carries.
   *
   * @returns false when it names no open call that asked for progress: it is to be dropped
   */
  deliverProgress(progress: JsonRpcNotification): boolean {
    return this.find(progress.params?.progressToken)?.deliver(progress) ?? false;
  }

  failAll(error: unknown): void {
    for (const pending of this.#open.values()) pending.fail(error);
  }
}

interface PendingCallHooks {
  /** Where it stands until it is closed. */
  readonly open: FleetingMap<number, PendingCall>;
  onAborted(pending: PendingCall): void;
}

/** One call from its registration to its one end: an answer, a failure, or the caller's abort, which it listens to. */
export class PendingCall {
  readonly id: number;
  readonly method: string;
  /** What goes on the wire: our id, and our progress token where the caller gave one. */
  readonly request: JsonRpcRequest;
  /** Settles once. Whoever opens the call awaits it. */
  readonly outcome: Promise<JsonRpcOutcome>;

  readonly #call: UpstreamCall;
  readonly #callerToken: JsonValue | undefined;
  readonly #hooks: PendingCallHooks;
  readonly #resolve: (outcome: JsonRpcOutcome) => void;
  readonly #reject: (error: unknown) => void;
  #closed = false;

  constructor(id: number, call: UpstreamCall, hooks: PendingCallHooks) {
    const { promise, resolve, reject } = Promise.withResolvers<JsonRpcOutcome>();
    this.id = id;
    this.method = call.method;
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#call = call;
    this.#hooks = hooks;
    this.#callerToken = progressTokenOf(call.params);
    const params = this.#callerToken === undefined ? call.params : withProgressToken(call.params, id);
    this.request = { jsonrpc: '2.0', id, method: call.method, ...(params && { params }) };
    call.signal.addEventListener('abort', this);
  }

  /** The caller aborts. */
  handleEvent(): void {
    if (!this.#close()) return;
    this.#reject(this.#call.signal.reason);
    this.#hooks.onAborted(this);
  }

  /**
   * Hands over a message that belongs to this call, a progress notification with the caller's own token.
   *
   * @returns false when it was dropped: the call is over, or it is progress that nobody asked for
   */
  deliver(message: ServerMessage): boolean {
    if (this.#closed) return false;
    if (message.method !== PROGRESS) {
      this.#call.onMessage(message);
      return true;
    }
    if (this.#callerToken === undefined || mintedId(message.params?.progressToken) !== this.id) return false;
    const params = { ...message.params, progressToken: this.#callerToken };
    this.#call.onMessage({ jsonrpc: '2.0', method: PROGRESS, params });
    return true;
  }

  settle(outcome: JsonRpcOutcome): void {
    if (this.#close()) this.#resolve(outcome);
  }

  fail(error: unknown): void {
    if (this.#close()) this.#reject(error);
  }

  /** True for the first caller only, who then settles the promise. */
  #close(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.#call.signal.removeEventListener('abort', this);
    this.#hooks.open.delete(this.id);
    return true;
  }
}

/**
 * Reads back an id that we minted. Some servers return numbers as strings; since we mint integers alone, `"7"` can
 * mean nothing but 7.
 */
function mintedId(value: JsonValue | JsonRpcId | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : undefined;
}

/** The caller's token, whatever its notation; anything but a string or an integer is no token and travels as it is. */
function progressTokenOf(params: JsonObject | undefined): JsonValue | undefined {
  const meta = params?._meta;
  if (!isJsonObject(meta)) return undefined;
  return readId(meta.progressToken) === undefined ? undefined : meta.progressToken;
}

function withProgressToken(params: JsonObject | undefined, progressToken: number): JsonObject {
  const meta = params?._meta;
  return { ...params, _meta: { ...(isJsonObject(meta) ? meta : {}), progressToken } };
}
