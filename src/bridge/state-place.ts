// On which replica what a client brings back means something: a parked call waits on one, a legacy server's cursor
// belongs to one link, and what a modern child process handed out that process knows.
import { GatewayError } from '../errors.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonValue } from '../protocol/json-text.ts';
import type { BridgeState } from './carried-call.ts';
import { readTicket } from './parking/parked-ticket.ts';
import { SealedFields } from './seals/sealed-fields.ts';

export interface BroughtBack {
  /** In the server's own words. */
  readonly request: ClientRequest;
  /** principalKey of the caller. */
  readonly principal: string;
  readonly server: string;
}

export interface StatePlace {
  /** The id of the replica. */
  readonly to: string;
  /** Nobody else can do anything with it. */
  readonly alone: boolean;
}

/** Undefined where any replica will do, or it is nothing of ours. @param era the server's, as far as it is known */
export function placeOfState(
  { state, parked: { replica } }: BridgeState,
  { request: { method, params }, principal, server }: BroughtBack,
  era: Era | undefined,
): StatePlace | undefined {
  const { requestState, cursor, taskId } = params ?? {};
  if (requestState === undefined && cursor === undefined && taskId === undefined) return undefined;
  const fields = new SealedFields({ state, principal, server, method, params, generation: '', replica });
  const { processReplica } = fields;
  if (processReplica !== undefined) return { to: processReplica, alone: false };
  // What a modern server says in a state may look like one of ours.
  const to = era === 'modern' ? undefined : (fields.cursorReplica ?? replicaOfTicket(fields, requestState));
  return to === undefined ? undefined : { to, alone: true };
}

function replicaOfTicket(fields: SealedFields, sealed: JsonValue | undefined): string | undefined {
  if (sealed === undefined) return undefined;
  try {
    const requestState = fields.openParams()?.requestState;
    return typeof requestState === 'string' ? readTicket(requestState)?.replica : undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}
