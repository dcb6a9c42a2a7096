// One call of a legacy session: it outlives the connection that it came by.
import { principalKey } from '../access/principal.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { publicOutput } from '../bridge/public-output.ts';
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import { ClientCancelled, type SessionCall } from '../bridge/sessions/session-calls.ts';
import type { EventStream } from '../bridge/sessions/session-streams.ts';
import { errorObject, GatewayError } from '../errors.ts';
import type { LegacyRequest } from '../protocol/client-message.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isLogLevel } from '../protocol/log-levels.ts';
import { isParkable } from '../protocol/methods.ts';
import type { Server } from '../servers/server.ts';
import type { SessionRecord } from '../state/session-store.ts';
import { answerForAll } from './answer-for-all.ts';
import { authorize } from './authorize.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { noteFailure } from './note-failure.ts';
import type { Permit } from './permit.ts';
import { type ClientAt, notOnView } from './route-on-view.ts';
import type { RoutedRequest } from './route-request.ts';
import { tracedStep } from './traced-exchange.ts';
import type { View } from './view.ts';

/** What one call of a session, wherever it goes, has to do with. */
export interface SessionRequest {
  readonly routed: RoutedRequest<LegacyRequest>;
  readonly view: View;
  readonly session: LegacySession | undefined;
  readonly clientAt: ClientAt;
}

/** A request that may go on: to one server in the words and with the permit that it has there, or to all. */
export type PermittedRequest = SessionRequest & Permit<LegacyRequest>;

export interface RunningCall extends PermittedRequest {
  readonly session: LegacySession;
  readonly stream: EventStream;
  /** Where the answer goes in place of the stream, where an array is answered. */
  readonly output?: CallOutput;
}

/** @throws GatewayError where the call may not be made; or the words of what is not there */
export function permit(exchange: Exchange, call: SessionRequest): PermittedRequest {
  const { routed } = call;
  if (routed.to !== 'one') return { ...call, request: routed.asked, hidden: routed.to === 'nobody' };
  noteRequest(exchange, routed.request, routed.member.server);
  const { access } = routed.member;
  return { ...call, ...tracedStep(exchange.record, 'access', () => authorize(exchange, access, routed)) };
}

/** The server that a request is for, if it is for one. */
export function serverOf({ routed }: SessionRequest): Server | undefined {
  return routed.to === 'one' ? routed.member.server : undefined;
}

/** The call goes on when the client's connection breaks; only its own word cancels it. */
export async function runCall(
  gateway: GatewayContext,
  exchange: Exchange,
  running: RunningCall,
): Promise<void> {
  const { request, session, stream } = running;
  const output = running.output ?? stream;
  const sessionCall = session.startCall({
    idText: request.idText,
    mayAsk: isParkable(request.method),
    stream,
    server: serverOf(running)?.slug,
  });
  try {
    await perform(gateway, exchange, { ...running, output, sessionCall });
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

async function perform(
  gateway: GatewayContext,
  exchange: Exchange,
  call: PermittedRequest & { output: CallOutput; session: LegacySession; sessionCall: SessionCall },
): Promise<void> {
  const { routed, request, hidden, view, clientAt, session, output, sessionCall } = call;
  const { stop: signal } = sessionCall;
  if (routed.to !== 'one') {
    const outcome = await answerForAll(gateway, { request, view, clientAt, session, signal });
    exchange.record.outcome = 'ok';
    return output.respond(request.idText, outcome, 200);
  }
  const { asked, member, names } = routed;
  await dispatchRequest(gateway, exchange, {
    asked,
    request,
    hidden,
    client: clientAt(member),
    server: member.server,
    output: names === undefined ? output : publicOutput(output, request.method, names),
    signal,
    sessionCall,
  });
}

/** What needs no server: `ping` is hop by hop, and a log level on a link that others share is kept here. */
export function answerHere(call: PermittedRequest): JsonRpcOutcome | undefined {
  const { routed, request, session } = call;
  if (routed.to === 'nobody') throw notOnView(request);
  if (request.method === 'ping') return { result: {} };
  const server = serverOf(call);
  const peer = server?.lastPeer;
  if (request.method !== 'logging/setLevel' || server === undefined || peer === undefined) return undefined;
  if (peer.era === 'legacy' && server.isolationFor(peer) === 'session') return undefined;
  if (peer.capabilities.logging === undefined) throw new GatewayError('method-unknown');
  const level = request.params?.level;
  if (!isLogLevel(level)) {
    throw new GatewayError('params-invalid', { text: 'level must be one of the log levels of RFC 5424' });
  }
  if (session !== undefined) session.logLevel = level;
  return { result: {} };
}

/** The client of a session, wherever that lives, as each server of its view is to know it. */
export function clientsOf(
  record: SessionRecord,
  session: LegacySession | undefined,
  exchange: Exchange,
): ClientAt {
  const { version, clientCapabilities, clientInfo } = record;
  return ({ access }): CallingClient => ({
    era: 'legacy',
    version,
    // Who takes no event stream cannot be asked anything.
    capabilities: exchange.reply.accepts.events ? clientCapabilities : {},
    info: clientInfo,
    logLevel: session?.logLevel,
    principal: principalKey(exchange.principal),
    caller: exchange.caller,
    access,
    session,
  });
}
