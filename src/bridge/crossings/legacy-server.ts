// A modern client and a legacy server: the metadata of the newer revision is taken off on the way there, the
// members that it demands are added on the way back.
import { META } from '../../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { isLogLevel } from '../../protocol/log-levels.ts';
import { isList } from '../../protocol/methods.ts';
import { isWanted } from '../listening/legacy-log-levels.ts';
import { publicError } from '../server-errors.ts';
import type { Crossing, CrossingContext } from './crossing.ts';
import { forServer } from './legacy-params.ts';
import { withoutRelatedTask } from './related-task.ts';

/** The newer revision knows no such signals: its clients retry to learn the outcome, and hear of no tasks. */
const UNKNOWN_NOTIFICATIONS = new Set(['notifications/elicitation/complete', 'notifications/tasks/status']);
const MODERN_META: ReadonlySet<string> = new Set([
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
]);

export const legacyServer: Crossing = {
  params({ request, peer }) {
    // A retry's members are for Portico, which carries the answers to the call that waits for them.
    const { _meta, requestState: _state, inputResponses: _responses, ...params } = request.params ?? {};
    const kept = withoutModernMeta(_meta);
    const crossed = kept === undefined ? params : { ...params, _meta: kept };
    return forServer(request.method, crossed, peer.version);
  },
  message(message, { request }) {
    if ('id' in message) return undefined;
    // A legacy server keeps one level for all; each request gets what it asked for.
    if (message.method === 'notifications/message') {
      const asked = request.era === 'modern' ? request.meta.logLevel : undefined;
      return isLogLevel(asked) && isWanted(message, asked) ? message : undefined;
    }
    if (UNKNOWN_NOTIFICATIONS.has(message.method)) return undefined;
    return message.params === undefined
      ? message
      : { ...message, params: withoutRelatedTask(message.params) };
  },
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
    ...(context.request.method === 'tools/list' ? withoutTaskSupport(result) : result),
    resultType: 'complete',
    ...cachingHints(context),
    _meta: serverInfo === undefined ? meta : { ...meta, [META.serverInfo]: serverInfo },
  };
}

/** Portico runs as a task what has to be one. */
function withoutTaskSupport(result: JsonObject): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  const tools = result.tools.map((tool) => {
    if (!isJsonObject(tool)) return tool;
    const { execution: _execution, ...rest } = tool;
    return rest;
  });
  return { ...result, tools };
}

/** Hints on the cacheable methods only, `private` on every page (2026-07-28, server/utilities/caching). */
function cachingHints({ request, listTtlMs }: CrossingContext): JsonObject {
  if (isList(request.method)) return { ttlMs: listTtlMs, cacheScope: 'private' };
  return request.method === 'resources/read' ? { ttlMs: 0, cacheScope: 'private' } : {};
}

function withoutModernMeta(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([key]) => !MODERN_META.has(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
