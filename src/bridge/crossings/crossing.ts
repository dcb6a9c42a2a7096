// What changes in a message between a client of one era and a server of the other. Four of these, chosen by
// (client era, server era), are all that differs between the combinations for plain requests.
import type { ServerConfig } from '../../config/config.ts';
import type { ClientRequest } from '../../protocol/client-message.ts';
import type { JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import type { Peer } from '../../servers/peer.ts';
import type { ServerMessage } from '../../servers/transport.ts';

/** What a crossing needs to know; the same for every message of one call. */
export interface CrossingContext {
  readonly request: ClientRequest;
  /** The client's revision. */
  readonly clientVersion: string;
  /** What the client declared, before the server's policy. */
  readonly clientCapabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  /** The level that a legacy session has set; a modern request carries its own. */
  readonly logLevel: string | undefined;
  readonly peer: Peer;
  readonly server: ServerConfig;
  /** The `ttlMs` that Portico hints on lists of servers that give none. */
  readonly listTtlMs: number;
}

export interface Crossing {
  /** The params as they go upstream. */
  params(context: CrossingContext): JsonObject | undefined;
  /** A message ahead of the response as it goes to the client; undefined keeps it here. */
  message(message: ServerMessage, context: CrossingContext): ServerMessage | undefined;
  /** The server's answer as it goes to the client. */
  outcome(outcome: JsonRpcOutcome, context: CrossingContext): JsonRpcOutcome;
}
