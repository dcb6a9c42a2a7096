// A modern client and a legacy server: the metadata of the newer revision is taken off on the way there, the
// members that it demands are added on the way back.
import { META } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import type { Crossing, CrossingContext } from './crossing.ts';
import { publicError } from './server-errors.ts';

const CACHEABLE_LISTS = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']);
const MODERN_META: ReadonlySet<string> = new Set([
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
]);

export const legacyServer: Crossing = {
  params({ request }) {
    const { _meta, ...params } = request.params ?? {};
    const kept = withoutModernMeta(_meta);
    return kept === undefined ? params : { ...params, _meta: kept };
  },
  // Questions are refused by the link, which declared no client feature; log lines were not asked for.
  message: (message) => ('id' in message || message.method === 'notifications/message' ? undefined : message),
  outcome(outcome, context) {
    if ('result' in outcome) return { result: modernResult(outcome.result, context) };
    const { method, params } = context.request;
    const uri = typeof params?.uri === 'string' ? params.uri : undefined;
    return { error: publicError(outcome.error, { era: 'modern', method, uri }) };
  },
};

/** Members of the newer revision win only where the server gave none: an unknown `resultType` is not ours to say. */
function modernResult(result: JsonObject, context: CrossingContext): JsonObject {
  const { serverInfo } = context.peer;
  const meta = isJsonObject(result._meta) ? result._meta : {};
  return {
    ...result,
    resultType: 'complete',
    ...cachingHints(context),
    _meta: serverInfo === undefined ? meta : { ...meta, [META.serverInfo]: serverInfo },
  };
}

/** Hints on the cacheable methods only, `private` on every page (2026-07-28, server/utilities/caching). */
function cachingHints({ request, listTtlMs }: CrossingContext): JsonObject {
  if (CACHEABLE_LISTS.has(request.method)) return { ttlMs: listTtlMs, cacheScope: 'private' };
  return request.method === 'resources/read' ? { ttlMs: 0, cacheScope: 'private' } : {};
}

function withoutModernMeta(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([key]) => !MODERN_META.has(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
