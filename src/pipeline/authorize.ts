// Whether the caller may do what a request asks: allowed, needs scope, refused by a condition, or absent. Hidden and
// absent are one from here on: the line goes on as it would for a name that nobody has.
import type { Decision, ServerAccess } from '../access/rules/server-access.ts';
import { GatewayError } from '../errors.ts';
import { accessAt } from '../federation/view-access.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import { isKnownMethod } from '../protocol/methods.ts';
import type { Exchange } from './exchange.ts';
import type { Permit } from './permit.ts';
import { type RequestSubject, subjectOf } from './request-subject.ts';
import type { RoutedRequest } from './route-request.ts';

/** @throws GatewayError condition-refused, scope-insufficient, method-unknown */
export function authorize<Request extends ClientRequest>(
  { record }: Exchange,
  access: ServerAccess,
  { request, hidden }: Permit<Request>,
): Permit<Request> {
  if (!access.enforced) return { request, hidden };
  // Extensions and tasks pass for callers who may use the whole server.
  if (!access.whole && isBeyondTargets(request)) throw new GatewayError('method-unknown');
  const subject = subjectOf(request);
  if (subject === undefined || hidden) return { request: permitted(request, access), hidden };
  const decision = decide(access, subject, request);
  record.rule = decision.rule;
  if (decision.verdict === 'refused') {
    throw new GatewayError('condition-refused', {
      reason: decision.failed ? 'condition_failed' : 'condition',
    });
  }
  if (decision.verdict === 'needs-scope') {
    // Clients before 2026-07-28 forget the scopes that they had when they are asked for others (F50).
    const held = request.era === 'legacy' ? access.heldScopes : [];
    throw new GatewayError('scope-insufficient', {
      scopes: [...decision.scopes, ...held],
      reason: 'step_up',
    });
  }
  return { request: permitted(request, access), hidden: decision.verdict === 'absent' };
}

/** Whether a notification of the client may go on to the server. */
export function mayNotify(access: ServerAccess, method: string): boolean {
  return access.whole || STANDARD_NOTIFICATIONS.has(method);
}

/** What a server is told of its client's abilities: who has no extension's methods could do nothing with its results. */
export function usableCapabilities(capabilities: JsonObject, access: ServerAccess): JsonObject {
  if (access.whole) return capabilities;
  const { extensions: _extensions, ...usable } = capabilities;
  return usable;
}

/** Who may read again what was said on the stream of these calls: those who could make them now. */
export function rereaders(
  access: ServerAccess,
  requests: readonly RoutedRequest[],
): (other: ServerAccess) => boolean {
  return (other) =>
    other.rights === access.rights ||
    requests.every((routed) => {
      if (routed.to !== 'one') return false;
      const subject = subjectOf(routed.request);
      const there = accessAt(other, routed.member.server.slug);
      return subject !== undefined && there !== undefined && isVisible(there, subject);
    });
}

const STANDARD_NOTIFICATIONS = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

function isBeyondTargets({ era, method }: ClientRequest): boolean {
  return method.startsWith('tasks/') || !isKnownMethod(era, method);
}

function decide(access: ServerAccess, subject: RequestSubject, request: ClientRequest): Decision {
  const { kind, name, isCall } = subject;
  if (name === undefined || kind === 'templates') {
    return { verdict: isVisible(access, subject) ? 'allowed' : 'absent' };
  }
  if (!isCall) return access.decide(kind, name);
  const args = request.params?.arguments;
  return access.decide(kind, name, { arguments: isJsonObject(args) ? args : {} });
}

function isVisible(access: ServerAccess, { kind, name }: RequestSubject): boolean {
  if (name === undefined) return false;
  return kind === 'templates' ? access.listsTemplate(name) : access.decide(kind, name).verdict === 'allowed';
}

function permitted<Request extends ClientRequest>(request: Request, access: ServerAccess): Request {
  const { method, params } = request;
  if (access.whole || params === undefined) return request;
  if (method === 'subscriptions/listen') return { ...request, params: permittedListen(params, access) };
  if (params.task === undefined) return request;
  const { task: _task, ...rest } = params;
  return { ...request, params: rest };
}

/** A subscription is agreed to as far as its caller may hear of what it names. */
function permittedListen(params: JsonObject, access: ServerAccess): JsonObject {
  if (!isJsonObject(params.notifications)) return params;
  const { resourceSubscriptions: uris, taskIds: _taskIds, ...filter } = params.notifications;
  for (const { capability, filter: member } of LIST_CHANGES) {
    if (!access.sees(capability)) delete filter[member];
  }
  const mayRead = (uri: unknown) =>
    typeof uri === 'string' && access.decide('resources', uri, { arguments: {} }).verdict === 'allowed';
  const notifications: JsonObject = filter;
  if (Array.isArray(uris)) notifications.resourceSubscriptions = uris.filter(mayRead);
  return { ...params, notifications };
}
