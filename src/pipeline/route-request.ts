// Where a request goes on the view that its client addresses: to one server, to all of them, or to nobody.
import { principalKey } from '../access/principal.ts';
import type { ViewNames } from '../federation/public-messages.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { ownRequest } from './own-request.ts';
import type { Permit } from './permit.ts';
import { type ClientAt, isForOne, routeOnView } from './route-on-view.ts';
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

/** Where there is nothing to be looked up: on a view of one server. */
export function routeInPlace<Request extends ClientRequest>(
  gateway: GatewayContext,
  asked: Request,
  { sole }: View,
): RoutedRequest<Request> | undefined {
  if (sole === undefined) return undefined;
  const { request, hidden } = ownRequest(gateway.shapes.of(sole.server.slug), asked);
  return { to: 'one', asked, request, hidden, member: sole, names: undefined };
}

/** @throws GatewayError where the only servers that could be meant cannot be asked */
export async function routeRequest<Request extends ClientRequest>(
  gateway: GatewayContext,
  { principal, clientGone }: Exchange,
  { asked, view, clientAt }: { asked: Request; view: View; clientAt: ClientAt },
): Promise<RoutedRequest<Request>> {
  const inPlace = routeInPlace(gateway, asked, view);
  if (inPlace !== undefined) return inPlace;
  if (!isForOne(asked)) return { to: 'all', asked };
  const options = { view, clientAt, principal: principalKey(principal), signal: clientGone };
  const route = await routeOnView(gateway, asked, options);
  return route === undefined ? { to: 'nobody', asked } : { to: 'one', asked, ...route };
}
