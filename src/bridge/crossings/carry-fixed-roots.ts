// A modern client and a modern server to which the config fixes the roots: the server's question for them is answered
// here, what it asks besides goes to the client.
import { GatewayError } from '../../errors.ts';
import { isJsonObject, type JsonObject, readJson } from '../../protocol/json-text.ts';
import { startDeadline } from '../../servers/call-deadline.ts';
import type { CarriedCall } from '../carried-call.ts';
import { isInputRequired, MAX_ROUNDS, questionsOf } from './input-required.ts';

/**
 * @param roots the result of `roots/list`
 * @throws GatewayError state-invalid, server-unavailable; or the signal's reason
 */
export async function carryFixedRoots(carried: CarriedCall, roots: JsonObject): Promise<'ok' | 'error'> {
  const { server, signal } = carried.call;
  const { maxCallTimeMs } = server.config;
  const overall = startDeadline({ callTimeoutMs: maxCallTimeMs, maxCallTimeMs }, signal);
  try {
    const { inputResponses: _responses, requestState: _state, ...fresh } = carried.params() ?? {};
    let params = withRemembered(carried.params() ?? {}, roots);
    for (let round = 0; round <= MAX_ROUNDS; round += 1) {
      const outcome = await carried.send(params, { signal: overall.signal });
      if ('error' in outcome || !isInputRequired(outcome.result)) return carried.respond(outcome);
      const { result } = outcome;
      const questions = questionsOf(result);
      const keys = [...questions].filter(([, { method }]) => method === 'roots/list').map(([key]) => key);
      if (keys.length === 0 || keys.length < questions.size) {
        return carried.respond({ result: forClient(result, keys) });
      }
      const state = result.requestState === undefined ? {} : { requestState: result.requestState };
      params = { ...fresh, ...state, inputResponses: answersOf(keys, roots) };
    }
  } finally {
    overall.stop();
  }
  throw new GatewayError('server-unavailable', {
    reason: 'too-many-rounds',
    text: 'The server asked for input too many times',
  });
}

/** The result without the questions of `keys`; which those were is in the state that the client brings back. */
function forClient(result: JsonObject, keys: readonly string[]): JsonObject {
  const { inputRequests, requestState, ...rest } = result;
  const requests = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  const others = requests.filter(([key]) => !keys.includes(key));
  const remembered = { keys: [...keys], ...(requestState === undefined ? {} : { requestState }) };
  return {
    ...rest,
    ...(inputRequests === undefined ? {} : { inputRequests: Object.fromEntries(others) }),
    requestState: JSON.stringify(remembered),
  };
}

/** A retry with the server's own state, and our answers among the client's: nobody else's count as roots. */
function withRemembered({ requestState, ...params }: JsonObject, roots: JsonObject): JsonObject {
  if (requestState === undefined) return params;
  const remembered = readRemembered(requestState);
  const state = remembered.requestState === undefined ? {} : { requestState: remembered.requestState };
  const given = isJsonObject(params.inputResponses) ? params.inputResponses : {};
  return { ...params, ...state, inputResponses: { ...given, ...answersOf(remembered.keys, roots) } };
}

/** What is not of this form was sealed before the config fixed the roots. */
function readRemembered(requestState: unknown): { keys: string[]; requestState?: string } {
  const remembered = parsed(requestState);
  const { keys, requestState: state } = isJsonObject(remembered) ? remembered : {};
  const isState = state === undefined || typeof state === 'string';
  if (!Array.isArray(keys) || !isState) throw new GatewayError('state-invalid', { reason: 'requestState' });
  return { keys: keys.map(String), ...(state === undefined ? {} : { requestState: state }) };
}

function parsed(text: unknown): unknown {
  try {
    return readJson(String(text));
  } catch {
    return undefined;
  }
}

function answersOf(keys: readonly string[], roots: JsonObject): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, roots]));
}
