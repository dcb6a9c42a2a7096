// Who answers at the other end of a link: what its handshake, or its discovery, said of itself.
import type { Era } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';

export interface Peer {
  readonly era: Era;
  /** The revision spoken on this leg. */
  readonly version: string;
  readonly serverInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

/** A session at a legacy HTTP server: whoever has the id goes on in it, with no handshake of its own. */
export interface UpstreamSession {
  readonly id: string;
  /** As the handshake gave it. */
  readonly peer: Peer;
}

/** What Portico says of itself where it is the one that asks. */
export interface ClientIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}
