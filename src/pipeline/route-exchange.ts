// Whether a request can go to the server that it is for: its method, and its parameters' headers.
import { GatewayError } from '../errors.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { isKnownMethod } from '../protocol/methods.ts';
import type { ParamHeader } from '../protocol/param-headers.ts';
import { paramHeaderMismatch, readParamHeaders } from '../protocol/param-headers.ts';
import type { Peer } from '../servers/peer.ts';
import type { Exchange } from './exchange.ts';
import { isServerView } from './view.ts';

/** @throws GatewayError method-unknown for what neither the era nor an extension of the server defines */
export function requireMethod(request: ClientRequest, view: string | undefined, peer: Peer): void {
  if (isKnownMethod(request.era, request.method)) return;
  // An extension's methods pass for callers who may use the whole server.
  if (isServerView(view) && peer.era === request.era && hasMembers(peer.capabilities.extensions)) return;
  throw new GatewayError('method-unknown');
}

/**
 * Tasks pass within one era, and at a legacy server on a session's own link alone: it keeps them for its one client,
 * whom it takes Portico to be, and would show them to all others. Elsewhere it is not asked for one.
 *
 * @throws GatewayError method-unknown for what asks about tasks
 */
export function permitTasks<Request extends ClientRequest>(
  request: Request,
  { era }: Peer,
  isolation: 'shared' | 'principal' | 'session',
): Request {
  const pass = request.era === era && (era === 'modern' || isolation === 'session');
  if (pass) return request;
  if (request.method.startsWith('tasks/')) throw new GatewayError('method-unknown');
  if (request.params?.task === undefined) return request;
  const { task: _task, ...params } = request.params;
  return { ...request, params };
}

/**
 * Holds the `Mcp-Param-*` headers of a modern client against the tool's schema and the body.
 *
 * @returns the headers that the tool's schema declares
 * @throws GatewayError header-mismatch
 */
export function checkParamHeaders(
  { headers }: Exchange,
  request: ClientRequest,
  target: JsonObject | undefined,
): readonly ParamHeader[] {
  if (request.method !== 'tools/call' || target === undefined) return [];
  const declared = readParamHeaders(target.inputSchema);
  if ('invalid' in declared) return [];
  if (request.era === 'modern') {
    const args = isJsonObject(request.params?.arguments) ? request.params.arguments : undefined;
    const mismatch = paramHeaderMismatch(declared.headers, args, (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    });
    if (mismatch !== undefined) throw new GatewayError('header-mismatch', { text: mismatch });
  }
  return declared.headers;
}

function hasMembers(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
