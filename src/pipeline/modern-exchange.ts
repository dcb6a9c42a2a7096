// A modern client's request: no session, everything that matters is in the request itself.
import { principalKey } from '../access/principal.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { discoverResult } from '../bridge/introduction.ts';
import { peerForClient } from '../bridge/peer-for-client.ts';
import { publicOutput } from '../bridge/public-output.ts';
import type { ModernRequest } from '../protocol/client-message.ts';
import { answerForAll } from './answer-for-all.ts';
import { authorize, usableCapabilities } from './authorize.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeardReply } from './heard-reply.ts';
import { listenToAll } from './listen-to-all.ts';
import { listenToOne } from './listen-to-one.ts';
import type { Permit } from './permit.ts';
import { forwardHome, homeOfRequest, type RequestHome } from './principal-home.ts';
import { type ClientAt, notOnView } from './route-on-view.ts';
import {
  type RequestToAll,
  type RequestToOne,
  type RoutedRequest,
  routeInPlace,
  routeRequest,
} from './route-request.ts';
import { tracedStep } from './traced-exchange.ts';
import { enterView, type View, type ViewMember } from './view.ts';
import { withinLimits } from './within-limits.ts';

/** How long a modern client's status is held back for the server's first message. */
const HOLD_MS = 5_000;

export function handleModernRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  asked: ModernRequest,
): Promise<void> {
  const view = enterView(gateway, exchange);
  noteRequest(exchange, asked, view.sole?.server);
  exchange.record.protocolVersion = asked.meta.version;
  exchange.record.clientInfo = asked.meta.clientInfo;
  const clientAt = clientsOf(exchange, asked);
  const asking = { asked, view, clientAt };
  const routed = routeInPlace(gateway, asking);
  return routed === undefined
    ? routeRequest(gateway, exchange, asking).then((found) =>
        handleRouted(gateway, exchange, { routed: found, view, clientAt }),
      )
    : handleRouted(gateway, exchange, { routed, view, clientAt });
}

interface RoutedOnView {
  readonly routed: RoutedRequest<ModernRequest>;
  readonly view: View;
  readonly clientAt: ClientAt;
}

function handleRouted(
  gateway: GatewayContext,
  exchange: Exchange,
  { routed, view, clientAt }: RoutedOnView,
): Promise<void> {
  if (routed.to !== 'one') return answerAll(gateway, exchange, { routed, view, clientAt });
  if (routed.request !== routed.asked || view.sole === undefined) {
    noteRequest(exchange, routed.request, routed.member.server);
  }
  const { server, access } = routed.member;
  const { request, hidden } = tracedStep(exchange.record, 'access', () =>
    authorize(exchange, access, routed),
  );
  const permitted = { ...routed, request, hidden };
  const charged = { request, hidden, server };
  return withinLimits(gateway, exchange, charged, () =>
    answerRequest(gateway, exchange, permitted, clientAt),
  );
}

/** The client as each server of its view is to know it. */
function clientsOf({ principal, caller }: Exchange, { meta }: ModernRequest): ClientAt {
  return ({ access }): CallingClient => ({
    era: 'modern',
    version: meta.version,
    capabilities: usableCapabilities(meta.clientCapabilities, access),
    info: meta.clientInfo,
    principal: principalKey(principal),
    caller,
    access,
    logLevel: undefined,
    session: undefined,
  });
}

async function answerAll(
  gateway: GatewayContext,
  exchange: Exchange,
  { routed, view, clientAt }: { routed: RequestToAll<ModernRequest>; view: View; clientAt: ClientAt },
): Promise<void> {
  const request = routed.asked;
  const charged = { request, hidden: routed.to === 'nobody', server: undefined };
  await withinLimits(gateway, exchange, charged, async () => {
    if (routed.to === 'nobody') throw notOnView(request);
    const { reply, clientGone: signal } = exchange;
    const call = { request, view, clientAt, session: undefined, signal };
    if (request.method === 'subscriptions/listen') return listenToAll(gateway, exchange, call);
    reply.holdFor(HOLD_MS);
    reply.respond(request.idText, await answerForAll(gateway, call));
  });
}

type PermittedRequest = RequestToOne<ModernRequest> & Permit<ModernRequest>;

function answerRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  permitted: PermittedRequest,
  clientAt: ClientAt,
): Promise<void> {
  const { request, member } = permitted;
  const client = clientAt(member);
  if (request.method === 'server/discover') return discover(gateway, exchange, { request, member, client });
  exchange.reply.holdFor(HOLD_MS);
  return gateway.replicas === undefined
    ? dispatch(gateway, exchange, { permitted, client, home: undefined })
    : dispatchAtHome(gateway, exchange, { permitted, client });
}

async function discover(
  gateway: GatewayContext,
  { reply, record, clientGone }: Exchange,
  { request, member, client }: { request: ModernRequest; member: ViewMember; client: CallingClient },
): Promise<void> {
  const { server, access } = member;
  const { lists } = gateway.config;
  const peer = await peerForClient(server, client, { timeoutMs: lists.timeoutMs, signal: clientGone });
  const ownLink = server.isolationFor(peer) !== 'shared';
  reply.respond(request.idText, { result: discoverResult(peer, { ttlMs: lists.ttlMs, ownLink, access }) });
  record.outcome = 'ok';
}

interface ClientsCall {
  readonly permitted: PermittedRequest;
  readonly client: CallingClient;
}

/** On the replica where what the request needs lives, if that is another one. */
async function dispatchAtHome(
  gateway: GatewayContext,
  exchange: Exchange,
  { permitted, client }: ClientsCall,
): Promise<void> {
  const { request, member } = permitted;
  const { server } = member;
  const home = await homeOfRequest(gateway, exchange, { request, server });
  if (home !== undefined && !isListen(request)) {
    const forward = { home, servers: [server], signal: exchange.clientGone };
    if (await forwardHome(gateway, exchange, forward)) return;
  }
  await dispatch(gateway, exchange, { permitted, client, home });
}

function dispatch(
  gateway: GatewayContext,
  exchange: Exchange,
  { permitted, client, home }: ClientsCall & { readonly home: RequestHome | undefined },
): Promise<void> {
  const { asked, request, hidden, member, names } = permitted;
  const heard = new HeardReply(gateway, exchange);
  const output = names === undefined ? heard : publicOutput(heard, request.method, names);
  const call = { asked, request, hidden, client, server: member.server, output, sessionCall: undefined };
  return isListen(request)
    ? listenToOne(gateway, exchange, { ...call, home })
    : dispatchRequest(gateway, exchange, { ...call, signal: exchange.clientGone });
}

function isListen({ method }: ModernRequest): boolean {
  return method === 'subscriptions/listen';
}
