// A request to a server as a part of its exchange's trace: its `_meta` says where it belongs, over pipes and HTTP and to
// servers of either era, as no revision forbids the keys. HTTP mirrors them in headers (servers/http/upstream-headers).

import type { ClientRequest } from '../protocol/client-message.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { nameSourceOf } from '../protocol/request-headers.ts';
import { withTraceContext } from '../protocol/trace-context.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ExchangeTrace } from '../telemetry/exchange-trace.ts';

export interface TracedRequest {
  readonly request: ClientRequest;
  readonly server: Server;
  readonly link: ServerLink;
  readonly trace: ExchangeTrace | undefined;
}

type Send = (params: JsonObject | undefined) => Promise<JsonRpcOutcome>;

/** @param send takes the params as they are to go out */
export function tracedSend(
  call: TracedRequest,
  params: JsonObject | undefined,
  send: Send,
): Promise<JsonRpcOutcome> {
  return call.trace === undefined ? send(params) : sendInTrace(call.trace, call, { params, send });
}

async function sendInTrace(
  trace: ExchangeTrace,
  { request, server, link }: TracedRequest,
  { params, send }: { params: JsonObject | undefined; send: Send },
): Promise<JsonRpcOutcome> {
  const { method } = request;
  const source = nameSourceOf(method);
  const target = source && params?.[source.member];
  const traced = trace.callServer({
    server: server.slug,
    method: methodLabel(method),
    target: typeof target === 'string' ? target : undefined,
    protocolVersion: link.peer.version,
    url: server.config.type === 'stdio' ? undefined : server.config.url,
  });
  try {
    const { context } = traced;
    const outcome = await send(context === undefined ? params : withTraceContext(params, context));
    traced.settle(outcome);
    return outcome;
  } catch (thrown) {
    traced.fail(thrown);
    throw thrown;
  }
}
