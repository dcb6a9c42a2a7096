// Client and server of one era: messages pass through. Rewritten is only what belongs to a leg.
import { META } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { declaredCapabilities } from './client-features.ts';
import type { Crossing } from './crossing.ts';
import { publicError } from './server-errors.ts';

export const sameEraLegacy: Crossing = {
  params: ({ request }) => request.params,
  message: (message) => message,
  outcome: (outcome, { request }) =>
    'error' in outcome
      ? {
          error: publicError(outcome.error, {
            era: 'legacy',
            method: request.method,
            uri: uriOf(request.params),
          }),
        }
      : outcome,
};

export const sameEraModern: Crossing = {
  params({ request, peer, server, clientCapabilities }) {
    const params = request.params ?? {};
    const _meta = {
      ...(isJsonObject(params._meta) ? params._meta : {}),
      [META.protocolVersion]: peer.version,
      [META.clientCapabilities]: declaredCapabilities(clientCapabilities, server.client),
    };
    return { ...params, _meta };
  },
  message: (message) => ('id' in message ? undefined : message),
  outcome: (outcome, { request }) =>
    'error' in outcome
      ? {
          error: publicError(outcome.error, {
            era: 'modern',
            method: request.method,
            uri: uriOf(request.params),
          }),
        }
      : outcome,
};

function uriOf(params: JsonObject | undefined): string | undefined {
  return typeof params?.uri === 'string' ? params.uri : undefined;
}
