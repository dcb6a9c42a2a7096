// Client and server of one era: messages pass through. Rewritten is only what belongs to a leg.
import { META } from '../../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { declaredCapabilities } from '../client-features.ts';
import { publicError } from '../server-errors.ts';
import type { Crossing, CrossingContext } from './crossing.ts';
import { requireDeclared } from './input-required.ts';
import { legacyContent } from './legacy-content.ts';
import { forServer } from './legacy-params.ts';

export const sameEraLegacy: Crossing = {
  params: ({ request, peer }) => forServer(request.method, request.params, peer.version),
  message: (message) => message,
  outcome(outcome, { request, clientVersion }) {
    if ('result' in outcome) return { result: legacyContent(request.method, outcome.result, clientVersion) };
    return {
      error: publicError(outcome.error, {
        era: 'legacy',
        method: request.method,
        uri: uriOf(request.params),
      }),
    };
  },
};

export const sameEraModern: Crossing = {
  params(context) {
    const params = context.request.params ?? {};
    const _meta = {
      ...(isJsonObject(params._meta) ? params._meta : {}),
      [META.protocolVersion]: context.peer.version,
      [META.clientCapabilities]: declared(context, { fixedRoots: true }),
    };
    return { ...params, _meta };
  },
  message: (message) => ('id' in message ? undefined : message),
  outcome(outcome, context) {
    if ('error' in outcome) {
      const { method, params } = context.request;
      return { error: publicError(outcome.error, { era: 'modern', method, uri: uriOf(params) }) };
    }
    const { result } = outcome;
    // A fixed list of roots is answered before anything comes here.
    requireDeclared(result, declared(context, { fixedRoots: false }));
    // What one caller may see is nobody else's, whatever the server thinks of its one caller.
    return result.cacheScope === undefined ? outcome : { result: { ...result, cacheScope: 'private' } };
  },
};

function declared(
  { clientCapabilities, server }: CrossingContext,
  options: { fixedRoots: boolean },
): JsonObject {
  return declaredCapabilities(clientCapabilities, server.client, options);
}

function uriOf(params: JsonObject | undefined): string | undefined {
  return typeof params?.uri === 'string' ? params.uri : undefined;
}
