// From a request whose caller and view are settled to the server's answer, for both eras of client: link, target,
// parameters, bridge. The second half of the straight line.
import type { CallOutput } from '../bridge/call-output.ts';
import type { CallingClient } from '../bridge/calling-client.ts';
import { carryCall } from '../bridge/carry-call.ts';
import { chooseLink, linkInPlace } from '../bridge/choose-link.ts';
import { capabilitiesForModern } from '../bridge/client-features.ts';
import type { StandingListen } from '../bridge/listening/standing-listen.ts';
import type { SessionCall } from '../bridge/sessions/session-calls.ts';
import { tellLogLevel } from '../bridge/sessions/session-log-level.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { JsonRpcOutcome, StreamMessage } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { buildParamHeaders } from '../protocol/param-headers.ts';
import { nameSourceOf } from '../protocol/request-headers.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import { wasNeverAccepted } from '../servers/was-never-accepted.ts';
import { withinTime } from '../servers/within-time.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { linkChooser } from './link-chooser.ts';
import { checkParamHeaders, permitTasks, requireMethod } from './route-exchange.ts';
import { routeTarget, targetInPlace } from './route-target.ts';

export interface Dispatch {
  /** As the client sent it: its headers speak of that. */
  readonly asked: ClientRequest;
  /** In the server's own words. */
  readonly request: ClientRequest;
  /** It is about something that the caller may not know of. */
  readonly hidden: boolean;
  readonly client: CallingClient;
  readonly server: Server;
  readonly output: CallOutput;
  readonly signal: StopSignal;
  readonly sessionCall: SessionCall | undefined;
  /** Takes over a listen that has no answer yet, where it waits for nothing but word from its server. */
  onStanding?(standing: StandingListen): void;
}

/**
 * Resolves when the answer has been handed to the output. A server that forgot our session never accepted the
 * request, so it is asked once more on a new one (F03).
 *
 * @throws GatewayError, or the signal's reason
 */
export async function dispatchRequest(
  gateway: GatewayContext,
  exchange: Exchange,
  call: Dispatch,
): Promise<void> {
  const { record } = exchange;
  const startedAt = performance.now();
  noteRequest(exchange, call.request, call.server);
  try {
    record.outcome = await dispatchOnce(gateway, exchange, call);
  } catch (thrown) {
    if (!wasNeverAccepted(thrown)) throw thrown;
    record.outcome = await dispatchOnce(gateway, exchange, call);
  } finally {
    record.upstreamMs = performance.now() - startedAt;
  }
}

async function dispatchOnce(
  gateway: GatewayContext,
  exchange: Exchange,
  call: Dispatch,
): Promise<'ok' | 'error'> {
  const { asked, hidden, client, server, signal } = call;
  const { record } = exchange;
  const { enforced } = client.access;
  signal.throwIfAborted();
  const link = linkInPlace(server, client) ?? (await openLink(gateway, exchange, call));
  const presented = link.present(client.caller, signal);
  if (presented !== undefined) await presented;
  requireMethod(call.request, exchange.view, link.peer);
  const isolation = server.isolationFor(link.peer);
  const request = permitTasks(call.request, link.peer, isolation);
  if (client.session?.logLevel !== undefined) await tellLogLevel(client.session, { server, link });
  const shape = gateway.shapes.of(server.slug);
  const clientCapabilities = capabilitiesForModern(client, server.config.client);
  const route = {
    asked,
    request,
    link,
    hidden,
    shape,
    checksReferences: enforced,
    signal,
    clientCapabilities,
  };
  const headersFor = (target: JsonObject | undefined) => {
    const declared = checkParamHeaders(exchange, asked, target);
    const args = isJsonObject(request.params?.arguments) ? request.params.arguments : undefined;
    return declared.length === 0 ? undefined : buildParamHeaders(declared, args);
  };
  const target = targetInPlace(gateway, route) ?? (await routeTarget(gateway, route));
  const tools =
    request.method === 'tools/list' && !shape.isPlain
      ? shape.review(await gateway.catalogue.table(link, 'tools', { signal, clientCapabilities }))
      : undefined;
  const presentTool = (tool: JsonObject) => {
    // Calls go by the list that was reviewed, so they must not go by one that the server has changed in silence.
    if (tools?.knows(tool) === false) gateway.catalogue.invalidate(link, 'tools');
    return tools?.present(tool);
  };
  return carryCall(
    {
      ...call,
      output: new NotedOutput(call.output, record),
      request,
      link,
      tool: isolation === 'shared' ? undefined : target,
      listTtlMs: gateway.config.lists.ttlMs,
      trace: exchange.record.trace,
      onQueued: (waitedMs) => noteWait(exchange, waitedMs),
      paramHeaders: headersFor(target),
      ...(tools === undefined ? {} : { presentTool }),
      async refreshParamHeaders() {
        gateway.catalogue.invalidate(link, 'tools');
        return headersFor(await routeTarget(gateway, route));
      },
    },
    gateway.bridge,
  );
}

/** @throws GatewayError, or the signal's reason */
function openLink(gateway: GatewayContext, exchange: Exchange, call: Dispatch): Promise<ServerLink> {
  const { client, server, signal } = call;
  const starting = chooseLink(server, client, call.request, linkChooser(gateway, server));
  // Probe and handshake each have the start timeout.
  return waiting(exchange, () => withinTime(starting, server.config.startTimeoutMs * 2, signal));
}

async function waiting<T>(exchange: Exchange, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await run();
  } finally {
    noteWait(exchange, performance.now() - startedAt);
  }
}

function noteWait({ record }: Exchange, waitedMs: number): void {
  record.queueMs = (record.queueMs ?? 0) + waitedMs;
}

/** A tool that failed is on record also where nobody is there to be told, or where an array is answered. */
class NotedOutput implements CallOutput {
  readonly #output: CallOutput;
  readonly #record: Exchange['record'];

  constructor(output: CallOutput, record: Exchange['record']) {
    this.#output = output;
    this.#record = record;
  }

  send(message: StreamMessage): Promise<void> | undefined {
    return this.#output.send(message);
  }

  respond(idText: string, outcome: JsonRpcOutcome, status: number): void {
    this.#record.isError = 'result' in outcome && outcome.result.isError === true;
    this.#output.respond(idText, outcome, status);
  }

  end(): void {
    this.#output.end();
  }
}

/** What the record needs to know of a request, in closed sets but for the target. */
export function noteRequest({ record }: Exchange, request: ClientRequest, server: Server | undefined): void {
  const source = nameSourceOf(request.method);
  const target = source && request.params?.[source.member];
  record.server = server?.slug;
  record.method = methodLabel(request.method);
  record.target = typeof target === 'string' ? target : undefined;
}
