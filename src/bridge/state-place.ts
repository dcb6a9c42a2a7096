// On which replica what a client brings back means something: a parked call waits on one, and a legacy server's cursor
// belongs to one link.
import { GatewayError } from '../errors.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
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

/** The id of that replica; undefined where any will do, or it is nothing of ours. */
export function placeOfState(
  { state, parked: { replica } }: BridgeState,
  { request: { method, params }, principal, server }: BroughtBack,
): string | undefined {
  if (params?.requestState === undefined && params?.cursor === undefined) return undefined;
  const fields = new SealedFields({ state, principal, server, method, params, generation: '', replica });
  const { cursorReplica } = fields;
  if (cursorReplica !== undefined || params.requestState === undefined) return cursorReplica;
  try {
    const requestState = fields.openParams()?.requestState;
    return typeof requestState === 'string' ? readTicket(requestState)?.replica : undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}
