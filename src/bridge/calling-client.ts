// The client of one call, as the bridge needs to know it, whichever era it speaks.
import type { ServerAccess } from '../access/rules/server-access.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { Caller } from '../servers/credentials/caller.ts';
import type { LegacySession } from './sessions/legacy-session.ts';

export interface CallingClient {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /** principalKey of the caller. */
  readonly principal: string;
  /** Who it calls for, for servers that are signed in to on its behalf. */
  readonly caller: Caller;
  /** What it may do at the server that it calls. */
  readonly access: ServerAccess;
  /** The level that a legacy session has set. */
  readonly logLevel: string | undefined;
  /** A legacy client's session; a modern client has none. */
  readonly session: LegacySession | undefined;
}
