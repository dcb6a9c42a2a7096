// What a legacy client POSTs: the handshake, requests in a session, notifications, answers to questions, arrays.
import { principalKey } from '../access/principal.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { initializeResult, negotiateVersion } from '../bridge/introduction.ts';
import { ClientCancelled, type LegacySession } from '../bridge/legacy-session.ts';
import { relayClientNotification } from '../bridge/session-messages.ts';
import type { EventStream } from '../bridge/session-streams.ts';
import { errorObject, GatewayError } from '../errors.ts';
import {
  type ClientBatch,
  type ClientNotification,
  type ClientResponse,
  classify,
  headerValue,
  type LegacyRequest,
} from '../protocol/client-message.ts';
import { DEFAULT_LEGACY_VERSION, isAtLeast } from '../protocol/era.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isJsonObject, readJson } from '../protocol/json-text.ts';
import { isLogLevel } from '../protocol/log-levels.ts';
import { isParkable, methodLabel } from '../protocol/methods.ts';
import { SESSION_HEADER, VERSION_HEADER } from '../protocol/request-headers.ts';
import type { Server } from '../servers/server.ts';
import { withinTime } from '../servers/within-time.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { noteFailure } from './note-failure.ts';
import { routeView } from './route-exchange.ts';

/** A legacy client is never kept without a status longer than this (BRIDGE.md). */
const HOLD_MS = 1_000;
/** Streams carry a priming event from this revision on. */
const PRIMING_SINCE = '2025-11-25';
/** The one revision whose clients may send arrays, and how many members one may have. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 100;

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
  const server = routeView(gateway, exchange.view);
  if (message.kind === 'request' && message.method === 'initialize') {
    return openSession(gateway, exchange, { request: message, server });
  }
  const session = await sessionOf(gateway, exchange, server);
  exchange.record.protocolVersion = session?.record.version;
  switch (message.kind) {
    case 'request':
      return handleRequest(gateway, exchange, { request: message, server, session });
    case 'batch':
      return handleBatch(gateway, exchange, { batch: message, server, session });
    case 'notification':
      exchange.record.method = methodLabel(message.method);
      if (session !== undefined) relayClientNotification(session, message, server);
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
  { request, server }: { request: LegacyRequest; server: Server },
): Promise<void> {
  const { reply, record, clientGone, principal, view } = exchange;
  noteRequest(exchange, request, server);
  const { protocolVersion, capabilities, clientInfo } = request.params ?? {};
  if (typeof protocolVersion !== 'string' || !isJsonObject(capabilities)) {
    const text = 'initialize needs a string protocolVersion and an object capabilities';
    throw new GatewayError('params-invalid', { text });
  }
  const { peer } = await withinTime(server.catalogueLink(), gateway.config.lists.timeoutMs, clientGone);
  const version = negotiateVersion(protocolVersion);
  const { id } = await gateway.sessions.open(
    {
      principal: principalKey(principal),
      view,
      version,
      clientCapabilities: capabilities,
      clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    },
    server,
  );
  record.protocolVersion = version;
  record.outcome = 'ok';
  reply.setHeader('Mcp-Session-Id', id);
  reply.respond(request.idText, {
    result: initializeResult(peer, version, server.isolationFor(peer) === 'session'),
  });
}

interface SessionRequest {
  readonly request: LegacyRequest;
  readonly server: Server;
  readonly session: LegacySession | undefined;
}

async function handleRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  call: SessionRequest,
): Promise<void> {
  const { reply, record } = exchange;
  const { request, session } = call;
  const answer = answerHere(exchange, call);
  if (answer !== undefined) {
    record.outcome = 'ok';
    return reply.respond(request.idText, answer);
  }
  if (session === undefined) return handleSessionless(gateway, exchange, call);
  const stream = session.streams.open();
  stream.attach(reply, exchange.clientGone);
  // Who names the event stream first gets one at once; others get JSON where the answer is quick.
  if (reply.accepts.prefersEvents) reply.openStream(primingId(stream, session));
  else reply.holdFor(HOLD_MS, primingId(stream, session));
  await runCall(gateway, exchange, { request, server: call.server, session, stream, output: stream });
}

interface RunningCall {
  readonly request: LegacyRequest;
  readonly server: Server;
  readonly session: LegacySession;
  readonly stream: EventStream;
  readonly output: CallOutput;
}

/** The call goes on when the client's connection breaks; only its own word cancels it (DESIGN 4, "Disconnect"). */
async function runCall(gateway: GatewayContext, exchange: Exchange, running: RunningCall): Promise<void> {
  const { request, server, session, stream, output } = running;
  const sessionCall = session.startCall(request.idText, isParkable(request.method), stream);
  const { signal } = sessionCall.controller;
  try {
    const client = clientOf(session, exchange);
    await dispatchRequest(gateway, exchange, { request, client, server, output, signal, sessionCall });
  } catch (thrown) {
    if (thrown instanceof ClientCancelled) {
      exchange.record.outcome = 'cancelled';
      return output.end();
    }
    const { reply } = exchange;
    if (output === stream && !reply.committed && !exchange.clientGone.aborted) {
      session.streams.forget(stream);
      throw thrown;
    }
    const error = noteFailure(gateway.logger, exchange.record, thrown);
    output.respond(request.idText, { error: errorObject(error, 'legacy') }, 200);
  } finally {
    session.finishCall(sessionCall);
  }
}

async function handleSessionless(
  gateway: GatewayContext,
  exchange: Exchange,
  call: SessionRequest,
): Promise<void> {
  const { reply } = exchange;
  const client: CallingClient = {
    era: 'legacy',
    version: headerValue(exchange.headers, VERSION_HEADER) ?? DEFAULT_LEGACY_VERSION,
    capabilities: {},
    info: undefined,
    logLevel: undefined,
    principal: principalKey(exchange.principal),
    session: undefined,
  };
  const output: CallOutput = {
    send: (message) => reply.send(message),
    respond: (idText, outcome, status) => reply.respond(idText, outcome, { status }),
    end: () => reply.end(),
  };
  reply.holdFor(HOLD_MS);
  await dispatchRequest(gateway, exchange, {
    request: call.request,
    client,
    server: call.server,
    output,
    // Without a session there is no way back to the result, but a legacy client that hangs up still cancels nothing.
    signal: new AbortController().signal,
    sessionCall: undefined,
  });
}

/** What needs no server: `ping` is hop by hop, and a log level on a link that others share is kept here. */
function answerHere(
  exchange: Exchange,
  { request, server, session }: SessionRequest,
): JsonRpcOutcome | undefined {
  noteRequest(exchange, request, server);
  if (request.method === 'ping') return { result: {} };
  const peer = server.lastPeer;
  if (request.method !== 'logging/setLevel' || peer === undefined) return undefined;
  if (server.isolationFor(peer) === 'session') return undefined;
  if (peer.capabilities.logging === undefined) throw new GatewayError('method-unknown');
  const level = request.params?.level;
  if (!isLogLevel(level)) {
    throw new GatewayError('params-invalid', { text: 'level must be one of the log levels of RFC 5424' });
  }
  if (session !== undefined) session.logLevel = level;
  return { result: {} };
}

/** Splits an array of the one revision that had them; each member is answered on the one stream. */
async function handleBatch(
  gateway: GatewayContext,
  exchange: Exchange,
  { batch, server, session }: { batch: ClientBatch; server: Server; session: LegacySession | undefined },
): Promise<void> {
  const { reply } = exchange;
  if (session?.record.version !== BATCH_VERSION) {
    throw new GatewayError('not-a-message', {
      text: 'The body must be a single JSON-RPC message, not an array',
    });
  }
  if (batch.items.length === 0 || batch.items.length > MAX_BATCH) {
    throw new GatewayError('not-a-message', { text: `An array must have 1 to ${MAX_BATCH} messages` });
  }
  const requests: LegacyRequest[] = [];
  for (const item of batch.items) {
    const message = classify(item, exchange.headers);
    if (message.kind === 'refused') throw new GatewayError(message.failure, { text: message.text });
    if (message.era !== 'legacy' || message.kind === 'batch' || isInitialize(message)) {
      throw new GatewayError('not-a-message', { text: 'An array may not hold initialize, or another array' });
    }
    if (message.kind === 'request') requests.push(message);
    else if (message.kind === 'response') session.answer(message.id, message.outcome);
    else relayClientNotification(session, { ...message, era: 'legacy' }, server);
  }
  exchange.record.outcome = 'ok';
  if (requests.length === 0) return reply.accept();
  if (!reply.accepts.events)
    throw new GatewayError('not-acceptable', { text: 'Arrays are answered as an event stream' });
  const stream = session.streams.open();
  stream.attach(reply, exchange.clientGone);
  reply.openStream();
  await Promise.all(
    requests.map((request) => answerMember(gateway, exchange, { request, server, session, stream })),
  );
  stream.end();
}

async function answerMember(
  gateway: GatewayContext,
  exchange: Exchange,
  member: Omit<RunningCall, 'output'>,
): Promise<void> {
  const { request, stream } = member;
  const output: CallOutput = {
    send: (message) => stream.send(message),
    respond: (idText, outcome) => {
      void stream.send({ jsonrpc: '2.0', id: readJson(idText) as string | number, ...outcome });
    },
    end: () => {},
  };
  try {
    const answer = answerHere(exchange, { request, server: member.server, session: member.session });
    if (answer !== undefined) output.respond(request.idText, answer, 200);
    else await runCall(gateway, exchange, { ...member, output });
  } catch (thrown) {
    // One member's failure is its own answer; the others go on.
    const error = noteFailure(gateway.logger, exchange.record, thrown);
    output.respond(request.idText, { error: errorObject(error, 'legacy') }, 200);
  }
}

function clientOf(session: LegacySession, exchange: Exchange): CallingClient {
  const { version, clientCapabilities, clientInfo } = session.record;
  return {
    era: 'legacy',
    version,
    // Who takes no event stream cannot be asked anything.
    capabilities: exchange.reply.accepts.events ? clientCapabilities : {},
    info: clientInfo,
    logLevel: session.logLevel,
    principal: principalKey(exchange.principal),
    session,
  };
}

function primingId(stream: EventStream, session: LegacySession): string | undefined {
  return isAtLeast(session.record.version, PRIMING_SINCE) ? stream.nextEventId() : undefined;
}

function isInitialize(message: { kind: string; method?: string }): boolean {
  return message.kind === 'request' && message.method === 'initialize';
}
