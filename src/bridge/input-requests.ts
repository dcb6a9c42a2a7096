// A modern server's questions, inside its `input_required` result. It must not ask for what the client did not
// declare (2026-07-28, basic/patterns/mrtr); one that does is not handed on.
import { GatewayError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';

const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'roots/list': 'roots',
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
};

/** @throws GatewayError server-unavailable where a question needs what was not declared to the server */
export function requireDeclared(result: JsonObject, declared: JsonObject): void {
  if (result.resultType !== 'input_required' || !isJsonObject(result.inputRequests)) return;
  for (const request of Object.values(result.inputRequests)) {
    const method = isJsonObject(request) && typeof request.method === 'string' ? request.method : '';
    const capability = Object.hasOwn(CAPABILITY_OF, method) ? CAPABILITY_OF[method] : undefined;
    if (capability !== undefined && declared[capability] !== undefined) continue;
    throw new GatewayError('server-unavailable', {
      reason: 'undeclared-question',
      text: 'The server asks for a client feature that was not declared to it',
    });
  }
}
