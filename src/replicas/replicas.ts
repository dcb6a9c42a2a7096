// Other replicas, as the line sees them: where things live, a way to hand a message over, and news. What cannot be
// shared lives on one replica, its home; a request that needs it makes one hop, and none of its caller's token.
import type { Principal } from '../access/principal.ts';
import type { FailureCode, FailureDetails } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';

export interface Replicas {
  /** Random at each start: the owner of what lives here. */
  readonly id: string;
  /** All that are live as last heard, this one among them. */
  readonly live: readonly LiveReplica[];
  /** The replica of that id as last heard; undefined where it is unknown or dead. */
  find(id: string): LiveReplica | undefined;
  /**
   * The same, and asks once more where nothing is known of it: one that has just started may not have been heard of,
   * which is no reason to take what it has for lost. Never rejects.
   */
  lookFor(id: string): Promise<LiveReplica | undefined>;
  /** The id of the live replica, maybe this one, that a key belongs to. All replicas that hear of the same ones agree. */
  homeOf(key: string): string;
  /**
   * Hands a client's message to another replica.
   *
   * @returns the frames of its answer, in order; leaving the iteration, or aborting, cancels over there. The iteration
   * throws GatewayError server-unavailable (reason `replica_lost`) where the answer breaks off
   * @throws ReplicaUnreachable where it is certain that nothing was done over there, so that something else may be;
   * ReplicaRefusal where the replica is there all the same
   * @throws GatewayError server-unavailable (reason `replica_lost`) where that is not certain; no-capacity
   */
  forward(to: string, sent: ForwardedExchange, signal: StopSignal): Promise<AsyncIterable<ReplyFrame>>;
  /** Tells all other replicas, if it can: nobody may rely on it. Never throws. */
  publish(event: ReplicaEvent): void;
  /** @param listener is told what others have published, and the id of who it was */
  onEvent(listener: (event: ReplicaEvent, from: string) => void): void;
}

export interface LiveReplica {
  readonly id: string;
  /** Where other replicas reach it. */
  readonly url: string;
  /** When it started, by its own `Date.now()`. */
  readonly since: number;
  /** Whether it is this one. */
  readonly self: boolean;
}

export interface ForwardedExchange {
  /**
   * permitted: the replica that the client reached has authorized it, taken from its limits, and writes the record.
   * undecided: it could not tell what the message asks for; that is all left to the home.
   * left: the client of the exchange of that id has gone; what it asked for goes on, and its frames are still read.
   */
  readonly kind: 'permitted' | 'undecided' | 'left';
  /** Of the exchange, on both replicas. */
  readonly id: string;
  readonly httpMethod: 'POST' | 'GET' | 'DELETE';
  readonly view: string | undefined;
  /** Those of `forwardedHeaders`, by lower-case name. Never a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly principal: Principal;
  /** Where the client's request came from. */
  readonly address: string;
  /** Sealed: what servers are to be shown for the caller that only the caller's token could have got. */
  readonly credentials?: string | undefined;
  readonly body: Buffer;
}

/** One call of the home's reply each, to be repeated on the client's; `record` is the last. */
export type ReplyFrame =
  | { readonly header: readonly [name: string, value: string] }
  | { readonly open: { readonly primingEventId?: string | undefined } }
  | { readonly send: { readonly message: StreamMessage; readonly eventId?: string | undefined } }
  | {
      readonly respond: {
        readonly idText: string;
        readonly outcome: JsonRpcOutcome;
        readonly status?: number | undefined;
        readonly eventId?: string | undefined;
      };
    }
  | {
      readonly fail: {
        readonly code: FailureCode;
        /** Without the cause, which has been logged over there. */
        readonly details: Omit<FailureDetails, 'cause'>;
        readonly idText?: string | undefined;
        readonly era: Era;
      };
    }
  | { readonly accept: 202 | 204 }
  | { readonly end: true }
  | { readonly record: ForwardedRecord };

/** What the home has learned of the exchange. */
export type ForwardedRecord = Partial<
  Pick<
    ExchangeRecord,
    | 'outcome'
    | 'reason'
    | 'isError'
    | 'answerBytes'
    | 'upstreamMs'
    | 'queueMs'
    | 'server'
    | 'target'
    | 'protocolVersion'
    | 'rule'
  >
>;

export type ReplicaEvent =
  /** `key` as in StoredSession. */
  | { readonly kind: 'session-ended'; readonly key: string }
  | { readonly kind: 'session-moved'; readonly key: string; readonly owner: string }
  /** `person`: principalKey of the only one for whom the list changed. */
  | {
      readonly kind: 'list-changed';
      readonly server: string;
      readonly method: string;
      readonly person?: string | undefined;
    }
  /** The key set of an issuer is not what it was. What it is now nobody takes from another: it is fetched. */
  | { readonly kind: 'keys-changed'; readonly issuer: string }
  | { readonly kind: 'replica-joined' }
  | { readonly kind: 'replica-left' };

/** The message was handed to nobody; whoever wanted to may do something else. */
export class ReplicaUnreachable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ReplicaUnreachable';
  }
}

/** The same, and the replica is there all the same: what lives on it does, and only this message was not for it. */
export class ReplicaRefusal extends ReplicaUnreachable {
  constructor(message: string) {
    super(message);
    this.name = 'ReplicaRefusal';
  }
}
