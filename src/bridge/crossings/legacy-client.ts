// A legacy client and a modern server: each request gains the per-request metadata, each result loses the members
// that the older revisions do not know.

import { GatewayError } from '../../errors.ts';
import { META } from '../../protocol/era.ts';
import { isJsonObject, type JsonObject, writeJson } from '../../protocol/json-text.ts';
import { crossedCapabilities } from '../client-features.ts';
import { publicError } from '../server-errors.ts';
import type { Crossing, CrossingContext } from './crossing.ts';
import { legacyContent } from './legacy-content.ts';

export const legacyClient: Crossing = {
  params({ request, peer, server, clientInfo, clientCapabilities, logLevel }) {
    const params = request.params ?? {};
    const _meta: JsonObject = {
      ...(isJsonObject(params._meta) ? params._meta : {}),
      [META.protocolVersion]: peer.version,
      [META.clientCapabilities]: crossedCapabilities(clientCapabilities, server.client),
    };
    if (clientInfo !== undefined) _meta[META.clientInfo] = clientInfo;
    // Without a `logging/setLevel` a legacy server would decide for itself; a modern one logs only when asked to.
    if (logLevel !== undefined) _meta[META.logLevel] = logLevel;
    return { ...params, _meta };
  },
  message: (message) => ('id' in message ? undefined : message),
  outcome(outcome, context) {
    if ('error' in outcome) {
      const { method, params } = context.request;
      const uri = typeof params?.uri === 'string' ? params.uri : undefined;
      return { error: publicError(outcome.error, { era: 'legacy', method, uri }) };
    }
    return { result: legacyResult(outcome.result, context) };
  },
};

function legacyResult(result: JsonObject, { request, clientVersion }: CrossingContext): JsonObject {
  const { resultType, ttlMs, cacheScope, _meta, ...rest } = result;
  if (resultType !== undefined && resultType !== 'complete') {
    throw new GatewayError('server-unavailable', {
      reason: 'result-type',
      text: 'The server answered with a kind of result that this protocol revision does not know',
    });
  }
  const legacy: JsonObject = rest;
  const meta = withoutModernMeta(_meta);
  if (meta !== undefined) legacy._meta = meta;
  const content = legacyContent(request.method, legacy, clientVersion);
  if (request.method === 'tools/call') return legacyToolResult(content);
  return request.method === 'tools/list' ? legacyToolList(content) : content;
}

/** Older revisions know only objects here; other JSON is handed over as text where no content says it. */
function legacyToolResult(result: JsonObject): JsonObject {
  const { structuredContent, ...rest } = result;
  if (structuredContent === undefined || isJsonObject(structuredContent)) return result;
  const content = Array.isArray(rest.content) ? rest.content : [];
  if (content.some((block) => isJsonObject(block) && block.type === 'text')) return rest;
  return { ...rest, content: [...content, { type: 'text', text: writeJson(structuredContent) }] };
}

function legacyToolList(result: JsonObject): JsonObject {
  if (!Array.isArray(result.tools)) return result;
  return { ...result, tools: result.tools.map((tool) => (isJsonObject(tool) ? legacyTool(tool) : tool)) };
}

const LEGACY_TOOLS = new WeakMap<readonly JsonObject[], readonly JsonObject[]>();

/** Tools of a modern server as a legacy client is to see them. The same array for the same tools. */
export function toolsForLegacyClient(tools: readonly JsonObject[]): readonly JsonObject[] {
  const known = LEGACY_TOOLS.get(tools) ?? tools.map(legacyTool);
  LEGACY_TOOLS.set(tools, known);
  return known;
}

function legacyTool(tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  return isJsonObject(outputSchema) && outputSchema.type === 'object' ? tool : rest;
}

function withoutModernMeta(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  const { [META.serverInfo]: _serverInfo, [META.subscriptionId]: _subscriptionId, ...kept } = meta;
  return Object.keys(kept).length === 0 ? undefined : kept;
}
