// The limit step: a request takes from every limit that concerns it before anything is done for it, and counts among
// those that run until it is over.

import type { LimitedRequest } from '../access/limit.ts';
import type { Admission } from '../access/limits.ts';
import { principalKey } from '../access/principal.ts';
import type { TargetKind } from '../access/target-pattern.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { nameSourceOf } from '../protocol/request-headers.ts';
import type { Server } from '../servers/server.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';

export interface ChargedRequest {
  readonly request: ClientRequest;
  readonly server: Server;
}

/**
 * Runs what a request asks for, if it may be asked for now.
 *
 * @throws GatewayError rate-limited, and nothing has been charged; or what `run` throws
 */
export async function withinLimits<T>(
  gateway: GatewayContext,
  exchange: Exchange,
  charged: ChargedRequest,
  run: () => Promise<T>,
): Promise<T> {
  const admission = await admit(gateway, exchange, charged);
  try {
    return await run();
  } finally {
    admission.leave();
  }
}

function admit(
  { limits, retries }: GatewayContext,
  { principal, arrival }: Exchange,
  { request, server }: ChargedRequest,
): Promise<Admission> | Admission {
  const limited: LimitedRequest = {
    address: arrival.address,
    principal,
    server: server.slug,
    target: targetOf(request),
    cost: LIST_LIKE.has(request.method) ? 'list' : 'call',
    isEndless: request.method === 'subscriptions/listen',
  };
  const isRetry = retries.redeem(request, { principal: principalKey(principal), server: server.slug });
  return isRetry ? limits.admitFree(limited) : limits.admit(limited, arrival);
}

/** What asks, or tells us something, and makes no server work. The rest are calls: extensions among them. */
const LIST_LIKE: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
]);

const KINDS: Readonly<Record<string, TargetKind>> = {
  'tools/call': 'tools',
  'prompts/get': 'prompts',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
};

function targetOf({ method, params }: ClientRequest): LimitedRequest['target'] {
  const kind = Object.hasOwn(KINDS, method) ? KINDS[method] : undefined;
  const member = kind === 'resources' ? 'uri' : (nameSourceOf(method)?.member ?? 'name');
  const name = params?.[member];
  return kind === undefined || typeof name !== 'string' ? undefined : { kind, name };
}
