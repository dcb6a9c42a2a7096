// Content that a legacy client's revision does not know yet, in a form that it does.
import { isAtLeast } from '../../protocol/era.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json-text.ts';
import { olderForm } from './older-form.ts';

/** Each kind of content block, and the revision that brought it. */
const KNOWN_SINCE: Readonly<Record<string, string>> = {
  text: '2024-11-05',
  image: '2024-11-05',
  resource: '2024-11-05',
  audio: '2025-03-26',
  resource_link: '2025-06-18',
};
/** Enums with titles in `oneOf` and of several choices, and several blocks of content in one message of a sampling. */
const RICH_QUESTIONS_SINCE = '2025-11-25';

/** A result of `tools/call` or `prompts/get` in terms of the client's revision. */
export function legacyContent(method: string, result: JsonObject, version: string): JsonObject {
  if (method === 'tools/call' && Array.isArray(result.content)) {
    return { ...result, content: result.content.map((block) => legacyBlock(block, version)) };
  }
  if (method !== 'prompts/get' || !Array.isArray(result.messages)) return result;
  const messages = result.messages.map((message) =>
    isJsonObject(message) && message.content !== undefined
      ? { ...message, content: legacyBlock(message.content, version) }
      : message,
  );
  return { ...result, messages };
}

/** A server's question in terms of a client's revision, and the way back for its result. */
export interface LegacyQuestion {
  readonly params: JsonObject | undefined;
  /** The client's result as the server is to have it. */
  readResult(result: JsonObject): JsonObject;
}

/** Undefined where the client's revision has no words for what is asked. */
export function questionIn(
  version: string,
  { method, params }: { readonly method: string; readonly params?: JsonObject | undefined },
): LegacyQuestion | undefined {
  const asIs: LegacyQuestion = { params, readResult: (result) => result };
  if (params === undefined || isAtLeast(version, RICH_QUESTIONS_SINCE)) return asIs;
  if (method === 'sampling/createMessage') return { ...asIs, params: legacySampling(params, version) };
  if (method !== 'elicitation/create') return asIs;
  const form = olderForm(params);
  return (
    form && {
      params: form.params,
      readResult: (result) =>
        isJsonObject(result.content) ? { ...result, content: form.contentFor(result.content) } : result,
    }
  );
}

/** A message had one block of content. */
function legacySampling(params: JsonObject, version: string): JsonObject {
  if (!Array.isArray(params.messages)) return params;
  const messages = params.messages.flatMap((message) => {
    if (!isJsonObject(message) || message.content === undefined) return [message];
    const blocks = Array.isArray(message.content) ? message.content : [message.content];
    return blocks.map((block) => ({ ...message, content: legacyBlock(block, version) }));
  });
  return { ...params, messages };
}

function legacyBlock(block: JsonValue, version: string): JsonValue {
  const kind = isJsonObject(block) && typeof block.type === 'string' ? block.type : '';
  const since = Object.hasOwn(KNOWN_SINCE, kind) ? KNOWN_SINCE[kind] : undefined;
  if (since !== undefined && isAtLeast(version, since)) return block;
  return { type: 'text', text: JSON.stringify(block) };
}
