// Where a principal's own child process lives: on one replica, found by all the same way from the principal's name; and
// the replica that alone knows what a client brings back.
import { principalKey } from '../access/principal.ts';
import { callsOwnProcess } from '../bridge/choose-link.ts';
import { placeOfState, type StatePlace } from '../bridge/state-place.ts';
import { GatewayError } from '../errors.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Era } from '../protocol/era.ts';
import type { Server } from '../servers/server.ts';
import { withinTime } from '../servers/within-time.ts';
import type { Exchange } from './exchange.ts';
import { type Forward, tryForward } from './forward-exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { View } from './view.ts';

/** A request to one server, in its own words. */
export interface HomedRequest {
  readonly request: ClientRequest;
  readonly server: Server;
}

/** Another replica than this one, which a request should be answered on. */
export type RequestHome = StatePlace;

/** The replica that a legacy client's session should live on, where its view has a process of the client's own. */
export async function homeOfSession(
  gateway: GatewayContext,
  exchange: Exchange,
  { members }: View,
): Promise<string | undefined> {
  if (gateway.replicas === undefined || exchange.forwarded !== undefined) return undefined;
  for (const { server } of members) {
    const asked = { era: 'legacy' as const, request: undefined };
    // One that cannot be asked what it is decides nothing.
    const isOwn = callsOwnProcess(server, asked, async () => server.lastPeer?.era ?? 'legacy');
    if (await isOwn) return otherThanThis(gateway, principalKey(exchange.principal));
  }
  return undefined;
}

/**
 * The replica that a request of a client without a session should be answered on; undefined: this one.
 *
 * @throws GatewayError where the server cannot be asked what it is
 */
export async function homeOfRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  { request, server }: HomedRequest,
): Promise<RequestHome | undefined> {
  const { replicas, bridge } = gateway;
  if (replicas === undefined || exchange.forwarded !== undefined) return undefined;
  const principal = principalKey(exchange.principal);
  const place = placeOfState(bridge, { request, principal, server: server.slug }, server.lastPeer?.era);
  if (place !== undefined) return place.to === replicas.id ? undefined : place;
  if (request.era === 'legacy') return undefined;
  const isOwn = await callsOwnProcess(server, { era: 'modern', request }, () => eraOf(server, exchange));
  const to = isOwn ? otherThanThis(gateway, JSON.stringify([server.slug, principal])) : undefined;
  return to === undefined ? undefined : { to, alone: false };
}

/**
 * Hands a request to its home, if it can be reached.
 *
 * @returns false where the request is to be answered here
 * @throws GatewayError as the home failed; state-invalid where the only one who could answer is gone
 */
export async function forwardHome(
  gateway: GatewayContext,
  exchange: Exchange,
  { home, ...forward }: Omit<Forward, 'to' | 'kind'> & { home: RequestHome | undefined },
): Promise<boolean> {
  if (home === undefined) return false;
  const isLive = (await gateway.replicas?.lookFor(home.to)) !== undefined;
  const toHome = { ...forward, kind: 'permitted' as const, to: home.to, onlyThere: home.alone };
  if (isLive && (await tryForward(gateway, exchange, toHome))) return true;
  if (home.alone) throw new GatewayError('state-invalid', { reason: 'replica_gone' });
  return false;
}

function otherThanThis({ replicas }: GatewayContext, key: string): string | undefined {
  const home = replicas?.homeOf(key);
  return home === replicas?.id ? undefined : home;
}

/** Probe and handshake each have the start timeout. */
async function eraOf(server: Server, { caller, clientGone }: Exchange): Promise<Era> {
  if (server.lastPeer !== undefined) return server.lastPeer.era;
  const starting = server.catalogueLink(caller);
  return (await withinTime(starting, server.config.startTimeoutMs * 2, clientGone)).peer.era;
}
