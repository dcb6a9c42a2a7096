// `input_required`, the modern way of asking a client (2026-07-28, basic/patterns/mrtr): reading one of a server's,
// and making one of a legacy server's questions.
import { GatewayError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import { missingCapability } from '../client-features.ts';
import { withoutRelatedTask } from './related-task.ts';

/** How often a server may ask before its call is given up. */
export const MAX_ROUNDS = 16;

export interface Question {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export function isInputRequired(result: JsonObject): boolean {
  return result.resultType === 'input_required';
}

/** The questions of a result, by the key that their answers are to carry. */
export function questionsOf(result: JsonObject): Map<string, Question> {
  const requests = isJsonObject(result.inputRequests) ? result.inputRequests : {};
  return new Map(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = isJsonObject(request) ? request : {};
      return [
        key,
        {
          method: typeof method === 'string' ? method : '',
          params: isJsonObject(params) ? params : undefined,
        },
      ];
    }),
  );
}

/** @throws GatewayError server-unavailable where a question needs what was not declared to the server */
export function requireDeclared(result: JsonObject, declared: JsonObject): void {
  if (!isInputRequired(result)) return;
  for (const question of questionsOf(result).values()) {
    if (missingCapability(question, declared) === undefined) continue;
    throw new GatewayError('server-unavailable', {
      reason: 'undeclared-question',
      text: 'The server asks for a client feature that was not declared to it',
    });
  }
}

/** Whether a client's answer has the shape that its question demands; what fills it is for the server to judge. */
export function answers({ method }: Question, response: JsonObject): boolean {
  const { action, role, content, roots } = response;
  if (method === 'elicitation/create')
    return action === 'accept' || action === 'decline' || action === 'cancel';
  if (method === 'roots/list') return Array.isArray(roots);
  return typeof role === 'string' && (Array.isArray(content) || isJsonObject(content));
}

/** A legacy server's question as a modern client is to see it. */
export function modernQuestion({ method, params }: Question): JsonObject {
  if (params === undefined) return { method };
  const { _meta, task: _task, elicitationId: _elicitationId, ...rest } = withoutRelatedTask(params);
  const meta = isJsonObject(_meta) ? withoutProgressToken(_meta) : undefined;
  const mode = method === 'elicitation/create' && rest.mode === undefined ? { mode: 'form' } : {};
  return { method, params: { ...mode, ...rest, ...(meta === undefined ? {} : { _meta: meta }) } };
}

/** A modern server's question as a legacy client is to see it; `elicitationId` is what its revision demands. */
export function legacyQuestion({ method, params }: Question, elicitationId: string): JsonObject | undefined {
  if (method !== 'elicitation/create' || params?.mode !== 'url') return params;
  return { ...params, elicitationId };
}

function withoutProgressToken({
  progressToken: _progressToken,
  ...meta
}: JsonObject): JsonObject | undefined {
  return Object.keys(meta).length === 0 ? undefined : meta;
}
