// One call of a legacy session: it outlives the connection that it came by.
import { principalKey } from '../access/principal.ts';
import type { ServerAccess } from '../access/server-access.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { ClientCancelled, type LegacySession } from '../bridge/legacy-session.ts';
import type { EventStream } from '../bridge/session-streams.ts';
import { errorObject, GatewayError } from '../errors.ts';
import type { LegacyRequest } from '../protocol/client-message.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isLogLevel } from '../protocol/log-levels.ts';
import { isParkable } from '../protocol/methods.ts';
import type { Server } from '../servers/server.ts';
import { dispatchRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { noteFailure } from './note-failure.ts';

export interface SessionRequest {
  readonly request: LegacyRequest;
  readonly server: Server;
  readonly access: ServerAccess;
  readonly session: LegacySession | undefined;
}

export interface RunningCall {
  readonly request: LegacyRequest;
  readonly server: Server;
  readonly access: ServerAccess;
  readonly hidden: boolean;
  readonly session: LegacySession;
  readonly stream: EventStream;
  readonly output: CallOutput;
}

/** The call goes on when the client's connection breaks; only its own word cancels it (DESIGN 4, "Disconnect"). */
export async function runCall(
  gateway: GatewayContext,
  exchange: Exchange,
  running: RunningCall,
): Promise<void> {
  const { request, hidden, server, access, session, stream, output } = running;
  const sessionCall = session.startCall(request.idText, isParkable(request.method), stream);
  const { signal } = sessionCall.controller;
  try {
    const client = clientOf(session, exchange, access);
    const call = { request, hidden, client, server, output, signal, sessionCall };
    await dispatchRequest(gateway, exchange, call);
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

/** What needs no server: `ping` is hop by hop, and a log level on a link that others share is kept here. */
export function answerHere({ request, server, session }: SessionRequest): JsonRpcOutcome | undefined {
  if (request.method === 'ping') return { result: {} };
  const peer = server.lastPeer;
  if (request.method !== 'logging/setLevel' || peer === undefined) return undefined;
  if (peer.era === 'legacy' && server.isolationFor(peer) === 'session') return undefined;
  if (peer.capabilities.logging === undefined) throw new GatewayError('method-unknown');
  const level = request.params?.level;
  if (!isLogLevel(level)) {
    throw new GatewayError('params-invalid', { text: 'level must be one of the log levels of RFC 5424' });
  }
  if (session !== undefined) session.logLevel = level;
  return { result: {} };
}

function clientOf(session: LegacySession, exchange: Exchange, access: ServerAccess): CallingClient {
  const { version, clientCapabilities, clientInfo } = session.record;
  return {
    era: 'legacy',
    version,
    // Who takes no event stream cannot be asked anything.
    capabilities: exchange.reply.accepts.events ? clientCapabilities : {},
    info: clientInfo,
    logLevel: session.logLevel,
    principal: principalKey(exchange.principal),
    caller: exchange.caller,
    access,
    session,
  };
}
