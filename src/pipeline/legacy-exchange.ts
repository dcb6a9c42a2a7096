// What a legacy client POSTs: the handshake, requests in a session, notifications, answers to questions, arrays.
import { principalKey } from '../access/principal.ts';
import type { ServerAccess } from '../access/server-access.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { heardOutput, heardSink } from '../bridge/heard-messages.ts';
import { initializeResult, negotiateVersion } from '../bridge/introduction.ts';
import type { LegacySession } from '../bridge/legacy-session.ts';
import { peerForClient } from '../bridge/peer-for-client.ts';
import { relayClientNotification } from '../bridge/session-messages.ts';
import type { EventStream } from '../bridge/session-streams.ts';
import { GatewayError } from '../errors.ts';
import {
  type ClientBatch,
  type ClientNotification,
  type ClientResponse,
  headerValue,
  type LegacyRequest,
} from '../protocol/client-message.ts';
import { DEFAULT_LEGACY_VERSION, isAtLeast } from '../protocol/era.ts';
import { isJsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { SESSION_HEADER, VERSION_HEADER } from '../protocol/request-headers.ts';
import type { Server } from '../servers/server.ts';
import { authorize, mayNotify, type Permit, rereaders } from './authorize.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { handleBatch } from './legacy-batch.ts';
import { liveAccess } from './live-access.ts';
import { ownRequest } from './own-request.ts';
import { answerHere, runCall, type SessionRequest } from './session-call.ts';
import { enterView, requireSole } from './view.ts';
import { withinLimits } from './within-limits.ts';

/** A legacy client is never kept without a status longer than this (BRIDGE.md). */
const HOLD_MS = 1_000;
/** Streams carry a priming event from this revision on. */
const PRIMING_SINCE = '2025-11-25';

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
  const { server, access } = requireSole(enterView(gateway, exchange));
  if (message.kind === 'request' && message.method === 'initialize') {
    const opening = { request: message, hidden: false, server, access };
    return withinLimits(gateway, exchange, opening, () => openSession(gateway, exchange, opening));
  }
  const session = await sessionOf(gateway, exchange, server);
  const asks = message.kind === 'request' || message.kind === 'batch';
  if (asks && session?.leaving) throw new GatewayError('session-unknown', { reason: 'server_changed' });
  exchange.record.protocolVersion = session?.record.version;
  exchange.record.clientInfo = session?.record.clientInfo;
  switch (message.kind) {
    case 'request':
      return handleRequest(gateway, exchange, { request: message, server, access, session });
    case 'batch':
      return handleBatch(gateway, exchange, { batch: message, server, access, session });
    case 'notification':
      exchange.record.method = methodLabel(message.method);
      if (session !== undefined && mayNotify(access, message.method)) {
        relayClientNotification(session, message, server);
      }
      break;
    case 'response':
      session?.answer(message.id, message.outcome);
  }
  exchange.record.outcome = 'ok';
  exchange.reply.accept();
}

/** The session that the request names; undefined where none is named and the server needs none. */
async function sessionOf(
  gateway: GatewayContext,
  exchange: Exchange,
  server: Server,
): Promise<LegacySession | undefined> {
  const id = headerValue(exchange.headers, SESSION_HEADER);
  if (id !== undefined) {
    const session = await gateway.sessions.find(id, principalKey(exchange.principal), exchange.view);
    if (session === undefined) throw new GatewayError('session-unknown');
    return session;
  }
  // Some hosted clients never send the id back; a server that keeps nothing per session can serve them (F02).
  const peer = server.lastPeer;
  if (peer === undefined || server.isolationFor(peer) !== 'shared') throw new GatewayError('session-missing');
  return undefined;
}

async function openSession(
  gateway: GatewayContext,
  exchange: Exchange,
  { request, server, access }: { request: LegacyRequest; server: Server; access: ServerAccess },
): Promise<void> {
  const { reply, record, clientGone, principal, caller, view } = exchange;
  noteRequest(exchange, request, server);
  const { protocolVersion, capabilities, clientInfo } = request.params ?? {};
  if (typeof protocolVersion !== 'string' || !isJsonObject(capabilities)) {
    const text = 'initialize needs a string protocolVersion and an object capabilities';
    throw new GatewayError('params-invalid', { text });
  }
  const client = { era: 'legacy' as const, principal: principalKey(principal), caller, capabilities };
  const patience = { timeoutMs: gateway.config.lists.timeoutMs, signal: clientGone };
  const peer = await peerForClient(server, client, patience);
  const version = negotiateVersion(protocolVersion);
  // The config may have changed while the server was waited for; the session is one of what is there now.
  const present = gateway.current().servers.get(server.slug);
  if (present === undefined) throw new GatewayError('view-unknown');
  const { id } = await gateway.sessions.open(
    {
      principal: client.principal,
      view,
      version,
      clientCapabilities: capabilities,
      clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    },
    present,
  );
  record.protocolVersion = version;
  record.outcome = 'ok';
  reply.setHeader('Mcp-Session-Id', id);
  reply.respond(request.idText, {
    result: initializeResult(peer, {
      version,
      ownLink: server.isolationFor(peer) === 'session',
      access,
    }),
  });
}

async function handleRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  call: SessionRequest,
): Promise<void> {
  const own = ownRequest(gateway.shapes.of(call.server.slug), call.request);
  noteRequest(exchange, own.request, call.server);
  // Before anything goes out: a challenge needs the status, and so does a limit.
  const permitted = { ...call, ...authorize(exchange, call.access, own) };
  await withinLimits(gateway, exchange, permitted, () => answerRequest(gateway, exchange, permitted));
}

type PermittedRequest = SessionRequest & Permit<LegacyRequest>;

async function answerRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  permitted: PermittedRequest,
): Promise<void> {
  const { reply, record } = exchange;
  const { request, access, session } = permitted;
  const answer = answerHere(permitted);
  if (answer !== undefined) {
    record.outcome = 'ok';
    return reply.respond(request.idText, answer);
  }
  if (session === undefined) return handleSessionless(gateway, exchange, permitted);
  const stream = session.streams.open();
  stream.mayBeReread = rereaders(access, [request]);
  stream.attach(heardSink(reply, liveAccess(gateway, exchange)), exchange.clientGone);
  // Who names the event stream first gets one at once; others get JSON where the answer is quick.
  if (reply.accepts.prefersEvents) reply.openStream(primingId(stream, session));
  else reply.holdFor(HOLD_MS, primingId(stream, session));
  await runCall(gateway, exchange, { ...permitted, session, stream, output: stream });
}

async function handleSessionless(
  gateway: GatewayContext,
  exchange: Exchange,
  { request, hidden, server, access }: PermittedRequest,
): Promise<void> {
  const { reply } = exchange;
  const client: CallingClient = {
    era: 'legacy',
    version: headerValue(exchange.headers, VERSION_HEADER) ?? DEFAULT_LEGACY_VERSION,
    capabilities: {},
    info: undefined,
    logLevel: undefined,
    principal: principalKey(exchange.principal),
    caller: exchange.caller,
    access,
    session: undefined,
  };
  const output: CallOutput = {
    send: (message) => reply.send(message),
    respond: (idText, outcome, status) => reply.respond(idText, outcome, { status }),
    end: () => reply.end(),
  };
  reply.holdFor(HOLD_MS);
  await dispatchRequest(gateway, exchange, {
    request,
    hidden,
    client,
    server,
    output: heardOutput(output, liveAccess(gateway, exchange)),
    // Without a session there is no way back to the result, but a legacy client that hangs up still cancels nothing.
    signal: new AbortController().signal,
    sessionCall: undefined,
  });
}

function primingId(stream: EventStream, session: LegacySession): string | undefined {
  return isAtLeast(session.record.version, PRIMING_SINCE) ? stream.nextEventId() : undefined;
}
