// GET and DELETE on an MCP endpoint: the stream of a legacy session for what belongs to no call, the resumption of a
// broken one, and the session's end. The modern revision has none of them.
import { principalKey } from '../access/principal.ts';
import type { ServerAccess } from '../access/rules/server-access.ts';
import { heardSink } from '../bridge/listening/heard-messages.ts';
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import { GatewayError } from '../errors.ts';
import { eraOfHeader, headerValue } from '../protocol/client-message.ts';
import { SUPPORTED_VERSIONS } from '../protocol/era.ts';
import { LAST_EVENT_HEADER, SESSION_HEADER, VERSION_HEADER } from '../protocol/request-headers.ts';
import { eitherOf } from '../runtime/stop.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { liveAccess } from './live-access.ts';
import { endElsewhere, locateSession, meetSession, openElsewhere } from './session-elsewhere.ts';
import { enterView } from './view.ts';

export async function handleSessionStream(gateway: GatewayContext, exchange: Exchange): Promise<void> {
  const version = headerValue(exchange.headers, VERSION_HEADER);
  const era = eraOfHeader(version);
  if (era === 'modern') throw methodNotAllowed();
  if (version !== undefined && era === undefined) {
    const data = { supported: SUPPORTED_VERSIONS, requested: version };
    throw new GatewayError('version-unsupported', { data });
  }
  exchange.record.era = 'legacy';
  exchange.record.method = exchange.httpMethod;
  const id = headerValue(exchange.headers, SESSION_HEADER);
  if (id === undefined) {
    if (exchange.httpMethod === 'GET') throw methodNotAllowed();
    throw new GatewayError('session-missing');
  }
  return exchange.httpMethod === 'GET'
    ? handleGet(gateway, exchange, id)
    : handleDelete(gateway, exchange, id);
}

/** Whoever may use nothing any more may still end what was theirs. */
async function handleDelete(gateway: GatewayContext, exchange: Exchange, id: string): Promise<void> {
  const located = await locateSession(gateway, exchange, id);
  const { record, reply } = exchange;
  if (located.at === 'here') {
    record.protocolVersion = located.session.record.version;
    await gateway.sessions.end(located.session, 'deleted');
  } else {
    record.protocolVersion = located.stored.record.version;
    if (await endElsewhere(gateway, exchange, { ...located, id })) return;
  }
  reply.accept(204);
  record.outcome = 'ok';
}

async function handleGet(gateway: GatewayContext, exchange: Exchange, id: string): Promise<void> {
  const { access, sole } = enterView(gateway, exchange);
  const { reply, record, signedOut } = exchange;
  const met = await meetSession(gateway, exchange, { id, sole });
  record.protocolVersion = (met.session ?? met.elsewhere.stored).record.version;
  if (!reply.accepts.events) throw new GatewayError('not-acceptable');
  // The last seconds of a token are for calls; a stream would end at once, and be opened again at once.
  if (signedOut.aborted) throw new GatewayError('token-invalid', { reason: 'expired' });
  const { maxPerPrincipal } = gateway.config.streams;
  // Counted where its client is.
  if (exchange.forwarded === undefined) {
    const place = gateway.streams.enter(principalKey(exchange.principal), maxPerPrincipal);
    reply.whenClosed(() => place.leave());
  }
  const { elsewhere } = met;
  const session =
    elsewhere === undefined ? met.session : await openElsewhere(gateway, exchange, { elsewhere, sole });
  if (session !== undefined) openStream(gateway, exchange, { session, access });
  record.outcome = 'ok';
  // The session may have taken its time to come here.
  if (signedOut.aborted) reply.end();
  else signedOut.addEventListener('abort', () => reply.end());
  exchange.settleIn?.();
}

/** The sign-in ends the stream: the client opens it again with a fresh token, and misses nothing. */
function openStream(
  gateway: GatewayContext,
  exchange: Exchange,
  { session, access }: { session: LegacySession; access: ServerAccess },
): void {
  const { headers, reply, clientGone, signedOut } = exchange;
  const lastEventId = headerValue(headers, LAST_EVENT_HEADER);
  const over = eitherOf(clientGone, signedOut);
  const sink = heardSink(reply, liveAccess(gateway, exchange));
  if (lastEventId === undefined) {
    if (session.leaving) throw new GatewayError('session-unknown', { reason: 'server_changed' });
    session.attachStandalone(sink, over);
  } else if (!mayResume(session, lastEventId, access) || !session.resume(lastEventId, sink, over)) {
    throw new GatewayError('resume-unknown');
  }
}

/** What a call said is not said again to someone who may not make it any more. */
function mayResume({ streams }: LegacySession, lastEventId: string, access: ServerAccess): boolean {
  return streams.find(lastEventId)?.stream.mayBeReread(access) ?? false;
}

function methodNotAllowed(): GatewayError {
  return new GatewayError('http-method', {
    text: 'Only POST is for this path; GET and DELETE need the Mcp-Session-Id of a legacy session',
    allow: 'POST, OPTIONS',
  });
}
