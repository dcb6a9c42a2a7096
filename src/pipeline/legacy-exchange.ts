// What a legacy client POSTs: the handshake, requests in a session, notifications, answers to questions, arrays.
import { principalKey } from '../access/principal.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import type { Onlooker } from '../bridge/choose-link.ts';
import { initializeResult, negotiateVersion } from '../bridge/introduction.ts';
import { heardSink } from '../bridge/listening/heard-messages.ts';
import { peerForClient } from '../bridge/peer-for-client.ts';
import { publicOutput } from '../bridge/public-output.ts';
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import { relayClientNotification } from '../bridge/sessions/session-messages.ts';
import type { EventStream } from '../bridge/sessions/session-streams.ts';
import { GatewayError } from '../errors.ts';
import {
  type ClientBatch,
  type ClientNotification,
  type ClientResponse,
  headerValue,
  type LegacyRequest,
} from '../protocol/client-message.ts';
import { DEFAULT_LEGACY_VERSION, isAtLeast } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { SESSION_HEADER, VERSION_HEADER } from '../protocol/request-headers.ts';
import type { Server } from '../servers/server.ts';
import { answerForAll, introduceAll } from './answer-for-all.ts';
import { mayNotify, rereaders } from './authorize.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import { type Forward, tryForward } from './forward-exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeardReply } from './heard-reply.ts';
import { handleBatch } from './legacy-batch.ts';
import { liveAccess, liveServers } from './live-access.ts';
import { forwardHome, homeOfRequest, homeOfSession } from './principal-home.ts';
import type { ClientAt } from './route-on-view.ts';
import { routeInPlace, routeRequest } from './route-request.ts';
import { answerHere, clientsOf, type PermittedRequest, permit, runCall, serverOf } from './session-call.ts';
import {
  forwardToSession,
  type MetSession,
  meetSession,
  type SessionElsewhere,
} from './session-elsewhere.ts';
import { enterView, type View } from './view.ts';
import { withinLimits } from './within-limits.ts';

/** A legacy client is never kept without a status longer than this. */
const HOLD_MS = 1_000;
/** Streams carry a priming event from this revision on. */
const PRIMING_SINCE = '2025-11-25';

interface NoSession {
  readonly session?: undefined;
  readonly elsewhere?: undefined;
}

export type LegacyMessage =
  | LegacyRequest
  | ClientResponse
  | ClientBatch
  | (ClientNotification & { readonly era: 'legacy' });

export async function handleLegacyMessage(
  gateway: GatewayContext,
  exchange: Exchange,
  message: LegacyMessage,
): Promise<void> {
  const view = enterView(gateway, exchange);
  if (message.kind === 'request' && message.method === 'initialize') {
    noteRequest(exchange, message, view.sole?.server);
    const opening = { request: message, hidden: false, server: view.sole?.server };
    return withinLimits(gateway, exchange, opening, async () => {
      const to = await homeOfSession(gateway, exchange, view);
      const servers = serversOf(view);
      const forward = { kind: 'permitted' as const, signal: exchange.clientGone, servers };
      if (to !== undefined && (await tryForward(gateway, exchange, { ...forward, to }))) return;
      await openSession(gateway, exchange, message, view);
    });
  }
  const met = await sessionOf(gateway, exchange, view);
  const { version, clientInfo } = (met.session ?? met.elsewhere?.stored)?.record ?? {};
  exchange.record.protocolVersion = version;
  exchange.record.clientInfo = clientInfo;
  if (message.kind === 'request') return handleRequest(gateway, exchange, { asked: message, view, met });
  const { elsewhere } = met;
  if (message.kind === 'notification') exchange.record.method = methodLabel(message.method);
  const session =
    elsewhere === undefined
      ? met.session
      : await forwardToSession(gateway, exchange, {
          elsewhere,
          sole: view.sole,
          ...(message.kind === 'batch'
            ? { kind: 'undecided', servers: serversOf(view) }
            : { kind: 'permitted' }),
          outlivesClient: true,
        });
  if (elsewhere !== undefined && session === undefined) return;
  switch (message.kind) {
    case 'batch':
      requireStaying(session);
      return handleBatch(gateway, exchange, { batch: message, view, session });
    case 'notification':
      if (session !== undefined && mayNotify(view.access, message.method)) {
        relayClientNotification(session, message, serversOf(view));
      }
      break;
    case 'response':
      session?.answer(message.id, message.outcome);
  }
  exchange.record.outcome = 'ok';
  exchange.reply.accept();
}

/** The session that the request names; none where none is named and no server of the view needs one. */
async function sessionOf(
  gateway: GatewayContext,
  exchange: Exchange,
  view: View,
): Promise<MetSession | NoSession> {
  const id = headerValue(exchange.headers, SESSION_HEADER);
  if (id !== undefined) return meetSession(gateway, exchange, { id, sole: view.sole });
  // Some hosted clients never send the id back; servers that keep nothing per session can serve them (F02).
  const needNone = view.members.every(({ server }) => {
    const peer = server.lastPeer;
    return peer !== undefined && server.isolationFor(peer) === 'shared';
  });
  if (!needNone) throw new GatewayError('session-missing');
  return {};
}

/** Its server is another one now: calls in flight come to their end, new ones are refused. */
function requireStaying(session: LegacySession | undefined): void {
  if (session?.leaving) throw new GatewayError('session-unknown', { reason: 'server_changed' });
}

async function openSession(
  gateway: GatewayContext,
  exchange: Exchange,
  request: LegacyRequest,
  view: View,
): Promise<void> {
  const { reply, record, principal, caller } = exchange;
  const { protocolVersion, capabilities, clientInfo } = request.params ?? {};
  if (typeof protocolVersion !== 'string' || !isJsonObject(capabilities)) {
    const text = 'initialize needs a string protocolVersion and an object capabilities';
    throw new GatewayError('params-invalid', { text });
  }
  const client = { era: 'legacy' as const, principal: principalKey(principal), caller, capabilities };
  const version = negotiateVersion(protocolVersion);
  const result = await introduction(gateway, exchange, { view, client, version });
  // The config may have changed while servers were waited for; the session is one of what is there now.
  const { sole } = view;
  const present = sole && gateway.current().servers.get(sole.server.slug);
  if (sole !== undefined && present === undefined) throw new GatewayError('view-unknown');
  const { id, session } = await gateway.sessions.open(
    {
      principal: client.principal,
      view: exchange.view,
      version,
      clientCapabilities: capabilities,
      clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    },
    present,
  );
  session.usable = liveServers(gateway, exchange);
  session.viewServers = sole === undefined ? session.usable : undefined;
  record.protocolVersion = version;
  record.outcome = 'ok';
  reply.setHeader('Mcp-Session-Id', id);
  reply.respond(request.idText, { result });
}

async function introduction(
  gateway: GatewayContext,
  { clientGone }: Exchange,
  { view, client, version }: { view: View; client: Onlooker; version: string },
): Promise<JsonObject> {
  const { sole } = view;
  if (sole === undefined) {
    const composed = await introduceAll(gateway, view, { clientAt: () => client, signal: clientGone });
    return { protocolVersion: version, ...composed };
  }
  const { server, access } = sole;
  const patience = { timeoutMs: gateway.config.lists.timeoutMs, signal: clientGone };
  const peer = await peerForClient(server, client, patience);
  return initializeResult(peer, { version, ownLink: server.isolationFor(peer) === 'session', access });
}

async function handleRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  { asked, view, met }: { asked: LegacyRequest; view: View; met: MetSession | NoSession },
): Promise<void> {
  const { session, elsewhere } = met;
  requireStaying(session);
  noteRequest(exchange, asked, view.sole?.server);
  const record = session?.record ?? elsewhere?.stored.record;
  const clientAt = record === undefined ? sessionlessClients(exchange) : clientsOf(record, session, exchange);
  const asking = { asked, view, clientAt };
  const routed = routeInPlace(gateway, asking) ?? (await routeRequest(gateway, exchange, asking));
  const forward = (kind: Forward['kind'], to: SessionElsewhere) =>
    forwardToSession(gateway, exchange, {
      elsewhere: to,
      sole: view.sole,
      kind,
      servers: routed.to === 'one' ? [routed.member.server] : serversOf(view),
      outlivesClient: true,
    });
  // The session's own servers may have told it of more than anybody else has heard of.
  if (elsewhere !== undefined && routed.to === 'nobody') {
    const adopted = await forward('undecided', elsewhere);
    if (adopted === undefined) return;
    return handleRequest(gateway, exchange, { asked, view, met: { session: adopted } });
  }
  // Before anything goes out: a challenge needs the status, and so does a limit.
  const permitted = permit(exchange, { routed, view, session, clientAt });
  const charged = { ...permitted, server: serverOf(permitted) };
  await withinLimits(gateway, exchange, charged, async () => {
    if (elsewhere === undefined) return answerRequest(gateway, exchange, permitted);
    const adopted = await forward('permitted', elsewhere);
    if (adopted === undefined) return;
    const here = { session: adopted, clientAt: clientsOf(adopted.record, adopted, exchange) };
    await answerRequest(gateway, exchange, { ...permitted, ...here });
  });
}

async function answerRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  permitted: PermittedRequest,
): Promise<void> {
  const { reply, record } = exchange;
  const { routed, request, view, session } = permitted;
  const answer = answerHere(permitted);
  if (answer !== undefined) {
    record.outcome = 'ok';
    return reply.respond(request.idText, answer);
  }
  if (session === undefined) return handleSessionless(gateway, exchange, permitted);
  const stream = session.streams.open();
  stream.mayBeReread = rereaders(view.access, [routed]);
  stream.attach(heardSink(reply, liveAccess(gateway, exchange)), exchange.clientGone);
  // Who names the event stream first gets one at once; others get JSON where the answer is quick.
  if (reply.accepts.prefersEvents) reply.openStream(primingId(stream, session));
  else reply.holdFor(HOLD_MS, primingId(stream, session));
  await runCall(gateway, exchange, { ...permitted, session, stream });
}

function sessionlessClients({ headers, principal, caller }: Exchange): ClientAt {
  return ({ access }): CallingClient => ({
    era: 'legacy',
    version: headerValue(headers, VERSION_HEADER) ?? DEFAULT_LEGACY_VERSION,
    capabilities: {},
    info: undefined,
    logLevel: undefined,
    principal: principalKey(principal),
    caller,
    access,
    session: undefined,
  });
}

async function handleSessionless(
  gateway: GatewayContext,
  exchange: Exchange,
  { routed, request, hidden, view, clientAt }: PermittedRequest,
): Promise<void> {
  const { reply } = exchange;
  // Without a session there is no way back to the result, but a legacy client that hangs up still cancels nothing.
  const { signal } = new AbortController();
  reply.holdFor(HOLD_MS);
  if (routed.to !== 'one') {
    const call = { request, view, clientAt, session: undefined, signal };
    return reply.respond(request.idText, await answerForAll(gateway, call));
  }
  const { asked, member, names } = routed;
  const home = await homeOfRequest(gateway, exchange, { request, server: member.server });
  if (await forwardHome(gateway, exchange, { home, servers: [member.server], outlivesClient: true })) return;
  const heard = new HeardReply(gateway, exchange);
  const output = names === undefined ? heard : publicOutput(heard, request.method, names);
  await dispatchRequest(gateway, exchange, {
    asked,
    request,
    hidden,
    client: clientAt(member),
    server: member.server,
    output,
    signal,
    sessionCall: undefined,
  });
}

function serversOf({ members }: View): Server[] {
  return members.map(({ server }) => server);
}

function primingId(stream: EventStream, session: LegacySession): string | undefined {
  return isAtLeast(session.record.version, PRIMING_SINCE) ? stream.nextEventId() : undefined;
}
