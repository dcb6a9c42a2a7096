// Carries one request to a server and everything that comes of it back: the crossing of the eras, the sealing of what
// the client is to bring again, and the one answer.
import { GatewayError } from '../errors.ts';
import { isUsable } from '../federation/server-catalogue.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Era } from '../protocol/era.ts';
import { META } from '../protocol/era.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, readJson } from '../protocol/json-text.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import type { CallOutput } from './call-output.ts';
import type { CallingClient } from './calling-client.ts';
import type { Crossing, CrossingContext } from './crossing.ts';
import { legacyClient } from './legacy-client.ts';
import { legacyServer } from './legacy-server.ts';
import type { SessionCall } from './legacy-session.ts';
import type { LaneHold, LogLanes } from './log-lane.ts';
import { sameEraLegacy, sameEraModern } from './same-era.ts';
import { SealedFields } from './sealed-fields.ts';
import type { SealedState } from './sealed-state.ts';
import { statusOfError } from './server-errors.ts';
import { relayToSession } from './session-messages.ts';

/** CROSSINGS[client's era][server's era] */
const CROSSINGS: Readonly<Record<Era, Readonly<Record<Era, Crossing>>>> = {
  legacy: { legacy: sameEraLegacy, modern: legacyClient },
  modern: { legacy: legacyServer, modern: sameEraModern },
};

export interface CarriedCall {
  readonly request: ClientRequest;
  readonly client: CallingClient;
  readonly server: Server;
  readonly link: ServerLink;
  readonly output: CallOutput;
  readonly signal: AbortSignal;
  readonly state: SealedState;
  readonly lanes: LogLanes;
  readonly listTtlMs: number;
  readonly paramHeaders: Readonly<Record<string, string>> | undefined;
  /** The call as its legacy session knows it. */
  readonly sessionCall: SessionCall | undefined;
}

/**
 * Resolves when the answer has been handed to the output.
 *
 * @returns whether the server answered with a result or with an error of its own
 * @throws GatewayError where there is no answer of the server to hand on
 */
export async function carryCall(call: CarriedCall): Promise<'ok' | 'error'> {
  const { request, client, server, link, output } = call;
  const crossing = CROSSINGS[client.era][link.peer.era];
  const sealing = new SealedFields({
    state: call.state,
    principal: client.principal,
    server: server.slug,
    method: request.method,
    params: request.params,
  });
  const params = sealing.openParams();
  const context: CrossingContext = {
    request: { ...request, ...(params === undefined ? {} : { params }) } as ClientRequest,
    clientVersion: client.version,
    clientCapabilities: client.capabilities,
    clientInfo: client.info,
    peer: link.peer,
    server: server.config,
    listTtlMs: call.listTtlMs,
  };
  const onMessage = (message: ServerMessage) => relay(message, { call, crossing, context, sealing });
  const lane = takeLogLane(call, onMessage);
  const upstream = crossing.params(context);
  let answered = false;
  let outcome: JsonRpcOutcome;
  try {
    outcome = await link.call(request.method, lane === 'withheld' ? withoutLogLevel(upstream) : upstream, {
      signal: call.signal,
      longLived: request.method === 'subscriptions/listen',
      ...(call.paramHeaders === undefined ? {} : { paramHeaders: call.paramHeaders }),
      onMessage,
    });
    answered = true;
  } finally {
    if (typeof lane === 'object') lane.release(answered);
  }
  const answer = publicOutcome(outcome, { call, crossing, context, sealing });
  output.respond(
    request.idText,
    answer,
    'error' in answer ? statusOfError(client.era, answer.error.code) : 200,
  );
  return 'error' in answer ? 'error' : 'ok';
}

/** A request that wants log lines from a child whose pipe tells nobody's apart; others need no lane. */
function takeLogLane(
  { request, client, link, lanes }: CarriedCall,
  deliver: (message: ServerMessage) => void,
): LaneHold | 'withheld' | undefined {
  const wantsLog = request.era === 'modern' && request.meta.logLevel !== undefined;
  if (!wantsLog || link.peer.era === 'legacy' || link.transport.kind !== 'stdio') return undefined;
  return lanes.take(link, { principal: client.principal, deliver }) ?? 'withheld';
}

function withoutLogLevel(params: JsonObject | undefined): JsonObject | undefined {
  if (params === undefined || !isJsonObject(params._meta)) return params;
  const { [META.logLevel]: _withheld, ..._meta } = params._meta;
  return { ...params, _meta };
}

interface Relay {
  readonly call: CarriedCall;
  readonly crossing: Crossing;
  readonly context: CrossingContext;
  readonly sealing: SealedFields;
}

function relay(message: ServerMessage, { call, crossing, context, sealing }: Relay): void {
  const { client, link, output, request, sessionCall } = call;
  if ('id' in message || message.method === 'notifications/cancelled') {
    // Only a legacy server asks, and only a session's own link has declared that it may.
    if (client.session !== undefined && link.peer.era === 'legacy') {
      void relayToSession(client.session, message, {
        link,
        server: call.server.config,
        stream: sessionCall?.stream,
      });
    } else if ('id' in message) {
      const error = { code: -32601, message: 'No client feature is available for this call' };
      void link.respond(message.id, { error });
    }
    return;
  }
  const crossed = crossing.message(message, context);
  if (crossed === undefined) return;
  const { params } = crossed;
  void output.send(
    params === undefined
      ? crossed
      : { ...crossed, params: ownSubscription(sealing.sealMessage(params), request) },
  );
}

function publicOutcome(
  outcome: JsonRpcOutcome,
  { call: { link }, crossing, context, sealing }: Relay,
): JsonRpcOutcome {
  const crossed = crossing.outcome(outcome, context);
  if ('error' in crossed) return crossed;
  const result = context.request.method === 'tools/list' ? usableTools(crossed.result, link) : crossed.result;
  return { result: ownSubscription(sealing.sealResult(result), context.request) };
}

/** Portico is the client here: tools that it could not call by the rules are left out (F35). */
function usableTools(result: JsonObject, link: ServerLink): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  return { ...result, tools: result.tools.filter((tool) => !isJsonObject(tool) || isUsable(link, tool)) };
}

/** A subscription is known to its client by the id of the client's own request, digit by digit. */
function ownSubscription<T extends { _meta?: unknown }>(holder: T, request: ClientRequest): T {
  const meta = holder._meta;
  if (!isJsonObject(meta) || !(META.subscriptionId in meta)) return holder;
  return { ...holder, _meta: { ...meta, [META.subscriptionId]: readJson(request.idText) } };
}

/** True where another try is safe: the server's session was gone, so the request was never accepted (F03). */
export function wasNeverAccepted(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.reason === 'session-lost';
}
