// The limit step: a request takes from every limit that concerns it before anything is done for it, and counts among
// those that run until it is over.

import type { LimitedRequest } from '../access/limits/limit.ts';
import type { Admission } from '../access/limits/limits.ts';
import { principalKey } from '../access/principal.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Server } from '../servers/server.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { Permit } from './permit.ts';
import { subjectOf } from './request-subject.ts';
import { tracedStep } from './traced-exchange.ts';

export interface ChargedRequest extends Permit {
  /** Undefined where it concerns several servers, or nobody knows which. */
  readonly server: Server | undefined;
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
  // Its client was let in where it arrived.
  if (exchange.forwarded?.kind === 'permitted') return run();
  const admitting = tracedStep(exchange.record, 'limit', () => admit(gateway, exchange, charged));
  const admission = admitting instanceof Promise ? await admitting : admitting;
  try {
    return await run();
  } finally {
    admission.leave();
  }
}

function admit(
  { limits, retries }: GatewayContext,
  { principal, arrival }: Exchange,
  { request, hidden, server }: ChargedRequest,
): Promise<Admission> | Admission {
  if (limits.none || request.method === 'ping') return NOTHING;
  const limited: LimitedRequest = {
    arrival,
    principal,
    server: server?.slug,
    // What a caller may not know of is not counted among its uses: others would notice.
    target: hidden ? undefined : targetOf(request),
    cost: isCall(request.method) ? 'call' : 'list',
    isEndless: request.method === 'subscriptions/listen',
  };
  if (server === undefined || request.params?.requestState === undefined) {
    return limits.admitNow(limited) ?? limits.admit(limited);
  }
  const whose = { principal: principalKey(principal), server: server.slug };
  return retries
    .redeem(request, whose)
    .then((isFree) => (isFree ? limits.admitFree(limited) : limits.admit(limited)));
}

const NOTHING: Admission = { leave() {} };

/** What asks, or tells us something, and makes no server work. The rest are calls, extensions among them. */
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

/** Whether a request makes a server do something. */
export function isCall(method: string): boolean {
  return method !== 'ping' && !LIST_LIKE.has(method);
}

function targetOf(request: ClientRequest): LimitedRequest['target'] {
  const { kind, name } = subjectOf(request) ?? {};
  return kind === undefined || kind === 'templates' || name === undefined ? undefined : { kind, name };
}
