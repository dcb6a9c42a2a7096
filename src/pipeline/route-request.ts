// Where a request goes on the view that its client addresses: to one server, to all of them, or to nobody.
import { principalKey } from '../access/principal.ts';
import type { ViewNames } from '../federation/public-messages.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { ownRequest } from './own-request.ts';
import type { Permit } from './permit.ts';
import { type ClientAt, isForOne, routeInMemory, routeOnView } from './route-on-view.ts';
import type { View, ViewMember } from './view.ts';

/** With the request in the server's own words. */
export interface RequestToOne<Request extends ClientRequest = ClientRequest> extends Permit<Request> {
  readonly to: 'one';
  /** As the client sent it. */
  readonly asked: Request;
  readonly member: ViewMember;
  /** How what goes back is to be told; undefined where the server's words are the view's. */
  readonly names: ViewNames | undefined;
}
/** `nobody`: the view has no such thing, for this caller at least. */
export interface RequestToAll<Request extends ClientRequest = ClientRequest> {
  readonly to: 'all' | 'nobody';
  readonly asked: Request;
}
export type RoutedRequest<Request extends ClientRequest = ClientRequest> =
  | RequestToOne<Request>
  | RequestToAll<Request>;

interface Asking<Request extends ClientRequest> {
  readonly asked: Request;
  readonly view: View;
  readonly clientAt: ClientAt;
}

/** Where nobody has to be asked: on a view of one server, and for a tool or prompt that is known already. */
export function routeInPlace<Request extends ClientRequest>(
  gateway: GatewayContext,
  { asked, view, clientAt }: Asking<Request>,
): RoutedRequest<Request> | undefined {
  const { sole } = view;
  if (sole === undefined) {
    const route = routeInMemory(gateway, asked, { view, clientAt });
    return route && { to: 'one', asked, ...route };
  }
  const { request, hidden } = ownRequest(gateway.shapes.of(sole.server.slug), asked);
  return { to: 'one', asked, request, hidden, member: sole, names: undefined };
}

/** @throws GatewayError where the only servers that could be meant cannot be asked */
export async function routeRequest<Request extends ClientRequest>(
  gateway: GatewayContext,
  { principal, clientGone }: Exchange,
  asking: Asking<Request>,
): Promise<RoutedRequest<Request>> {
  const { asked, view, clientAt } = asking;
  const inPlace = routeInPlace(gateway, asking);
  if (inPlace !== undefined) return inPlace;
  if (!isForOne(asked)) return { to: 'all', asked };
  const options = { view, clientAt, principal: principalKey(principal), signal: clientGone };
  const route = await routeOnView(gateway, asked, options);
  return route === undefined ? { to: 'nobody', asked } : { to: 'one', asked, ...route };
}
