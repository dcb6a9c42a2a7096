// A modern client's request: no session, everything that matters is in the request itself.
import { principalKey } from '../access/principal.ts';
import type { ServerAccess } from '../access/server-access.ts';
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { heardOutput } from '../bridge/heard-messages.ts';
import { discoverResult } from '../bridge/introduction.ts';
import { peerForClient } from '../bridge/peer-for-client.ts';
import { GatewayError } from '../errors.ts';
import type { ModernRequest } from '../protocol/client-message.ts';
import { META } from '../protocol/era.ts';
import { type JsonValue, readJson } from '../protocol/json-text.ts';
import type { Server } from '../servers/server.ts';
import { authorize, type Permit, usableCapabilities } from './authorize.ts';
import { dispatchRequest, noteRequest } from './dispatch-request.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { liveAccess } from './live-access.ts';
import { ownRequest } from './own-request.ts';
import { enterView, requireSole } from './view.ts';
import { withinLimits } from './within-limits.ts';

/** How long a modern client's status is held back for the server's first message (BRIDGE.md). */
const HOLD_MS = 5_000;

export async function handleModernRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  asked: ModernRequest,
): Promise<void> {
  const { server, access } = requireSole(enterView(gateway, exchange));
  const own = ownRequest(gateway.shapes.of(server.slug), asked);
  noteRequest(exchange, own.request, server);
  exchange.record.protocolVersion = asked.meta.version;
  exchange.record.clientInfo = asked.meta.clientInfo;
  const permitted = { ...authorize(exchange, access, own), server, access };
  await withinLimits(gateway, exchange, permitted, () => answerRequest(gateway, exchange, permitted));
}

interface PermittedRequest extends Permit<ModernRequest> {
  readonly server: Server;
  readonly access: ServerAccess;
}

async function answerRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  { request, hidden, server, access }: PermittedRequest,
): Promise<void> {
  const { reply, record, clientGone } = exchange;
  const client: CallingClient = {
    era: 'modern',
    version: request.meta.version,
    capabilities: usableCapabilities(request.meta.clientCapabilities, access),
    info: request.meta.clientInfo,
    principal: principalKey(exchange.principal),
    caller: exchange.caller,
    access,
    logLevel: undefined,
    session: undefined,
  };
  if (request.method === 'server/discover') {
    const { lists } = gateway.config;
    const patience = { timeoutMs: lists.timeoutMs, signal: clientGone };
    const peer = await peerForClient(server, client, patience);
    reply.respond(request.idText, {
      result: discoverResult(peer, {
        ttlMs: lists.ttlMs,
        ownLink: server.isolationFor(peer) !== 'shared',
        access,
      }),
    });
    record.outcome = 'ok';
    return;
  }
  reply.holdFor(HOLD_MS);
  const output: CallOutput = {
    send: (message) => reply.send(message),
    respond: (idText, outcome, status) => reply.respond(idText, outcome, { status }),
    end: () => reply.end(),
  };
  const call = {
    request,
    hidden,
    client,
    server,
    output: heardOutput(output, liveAccess(gateway, exchange)),
    sessionCall: undefined,
  };
  if (request.method !== 'subscriptions/listen') {
    return dispatchRequest(gateway, exchange, { ...call, signal: clientGone });
  }
  await listen(gateway, exchange, call);
}

/**
 * A subscription ends with its completion result when it is our side that ends it (basic/patterns/subscriptions):
 * because Portico drains, because the caller's sign-in is over, because a reload gave the view other servers, or because
 * the server took it back on its pipe.
 */
async function listen(
  gateway: GatewayContext,
  exchange: Exchange,
  call: { request: ModernRequest; output: CallOutput } & Omit<
    Parameters<typeof dispatchRequest>[2],
    'signal'
  >,
): Promise<void> {
  const { clientGone, signedOut, record } = exchange;
  if (signedOut.aborted) throw new GatewayError('token-invalid', { reason: 'expired' });
  const open = gateway.listens.open(exchange.view, call.request.idText, call.output);
  const ending = AbortSignal.any([gateway.ending, signedOut, open.over]);
  const signal = AbortSignal.any([clientGone, ending]);
  try {
    await dispatchRequest(gateway, exchange, { ...call, output: open.output, signal });
  } catch (thrown) {
    if (clientGone.aborted || !(ending.aborted || endedByServer(thrown))) throw thrown;
    const { idText } = call.request;
    const _meta = { [META.subscriptionId]: readJson(idText) as JsonValue };
    call.output.respond(idText, { result: { resultType: 'complete', _meta } }, 200);
    record.outcome = 'ok';
  } finally {
    open.close();
  }
}

function endedByServer(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.reason === 'subscription-ended';
}
