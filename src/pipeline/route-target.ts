// From a name to the thing itself: a name that is in no table is never forwarded, on no view.
import { GatewayError } from '../errors.ts';
import type { FindOptions } from '../federation/server-catalogue.ts';
import type { ToolShape } from '../federation/tool-shape.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { GatewayContext } from './gateway-context.ts';
import { type RequestSubject, subjectOf } from './request-subject.ts';

export interface TargetRoute {
  /** As the client sent it, for what it is told. */
  readonly asked: ClientRequest;
  readonly request: ClientRequest;
  readonly link: ServerLink;
  /** Looked for like any other name, and not found. */
  readonly hidden: boolean;
  /** Of the server's tools. */
  readonly shape: ToolShape;
  /** Whether what a completion refers to has to be there: where nobody is known, the server may say so itself. */
  readonly checksReferences: boolean;
  readonly signal: StopSignal;
  /** What a modern server is told of the client. */
  readonly clientCapabilities: JsonObject;
}

/**
 * The definition of the tool or prompt that a request names; undefined where there is none to be had.
 *
 * @throws GatewayError target-unknown, resource-unknown
 */
export async function routeTarget(
  { catalogue }: GatewayContext,
  { asked, request, link, hidden, shape, checksReferences, signal, clientCapabilities }: TargetRoute,
): Promise<JsonObject | undefined> {
  const subject = subjectOf(request);
  if (subject === undefined) return undefined;
  const { kind, name, isCall } = subject;
  if (kind === 'resources') {
    if (!hidden) return undefined;
    // A server takes its time to say that a resource is not there, so nothing may be read from how soon we say it.
    await link.call('resources/list', link.withOwnMeta({}), { signal });
    throw resourceUnknown(subjectOf(asked)?.name, hidden);
  }
  if (!isCall && !checksReferences) return undefined;
  const found = await catalogue.find(link, kind, hidden ? undefined : name, {
    signal,
    clientCapabilities,
    ...isThereBy(shape, { kind, name }),
  });
  if (found !== undefined) return found;
  if (kind === 'templates') throw resourceUnknown(subjectOf(asked)?.name, hidden);
  const text = kind === 'tools' ? 'Unknown tool' : 'Unknown prompt';
  throw new GatewayError('target-unknown', { text, ...reasonOf(hidden) });
}

/** What {@link routeTarget} would give where it is known already, as it mostly is. */
export function targetInPlace(
  { catalogue }: GatewayContext,
  { request, link, hidden, shape, clientCapabilities }: TargetRoute,
): JsonObject | undefined {
  const { kind, name, isCall } = subjectOf(request) ?? {};
  if (kind === undefined || kind === 'resources' || name === undefined || !isCall || hidden) return undefined;
  return catalogue.known(link, kind, name, { clientCapabilities, ...isThereBy(shape, { kind, name }) });
}

function isThereBy(
  shape: ToolShape,
  { kind, name }: Pick<RequestSubject, 'kind' | 'name'>,
): Pick<FindOptions, 'isThere'> {
  if (kind !== 'tools') return {};
  return { isThere: (table) => name !== undefined && shape.review(table).has(name) };
}

function resourceUnknown(uri: string | undefined, hidden: boolean): GatewayError {
  return new GatewayError('resource-unknown', {
    ...(uri === undefined ? {} : { data: { uri } }),
    ...reasonOf(hidden),
  });
}

/** For the log line alone. */
function reasonOf(hidden: boolean): { reason?: string } {
  return hidden ? { reason: 'hidden' } : {};
}
