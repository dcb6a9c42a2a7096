// What a caller may see of a server's answer: entries of lists by the same decision that gates their use, values of a
// completion by the URIs that they lead to. A page may come out empty and keeps its cursor.
import type { ServerAccess } from '../access/rules/server-access.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import { INVALID_PARAMS } from '../protocol/error-codes.ts';
import type { JsonRpcErrorObject } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';
import { resourceNotFound } from './server-errors.ts';
import { expandTemplate } from './uri-template.ts';

interface VisibleList {
  readonly member: string;
  isVisible(entry: JsonObject, access: ServerAccess): boolean;
}

const LISTS: Readonly<Record<string, VisibleList>> = {
  'tools/list': { member: 'tools', isVisible: ({ name }, access) => sees(access, 'tools', name) },
  'prompts/list': { member: 'prompts', isVisible: ({ name }, access) => sees(access, 'prompts', name) },
  'resources/list': { member: 'resources', isVisible: ({ uri }, access) => sees(access, 'resources', uri) },
  'resources/templates/list': {
    member: 'resourceTemplates',
    isVisible: ({ uriTemplate }, access) =>
      typeof uriTemplate === 'string' && access.listsTemplate(uriTemplate),
  },
};

export function visibleResult(result: JsonObject, request: ClientRequest, access: ServerAccess): JsonObject {
  if (!access.enforced) return result;
  const list = Object.hasOwn(LISTS, request.method) ? LISTS[request.method] : undefined;
  if (list === undefined) return visibleCompletion(result, request, access);
  return { ...result, [list.member]: visibleEntries(result[list.member], list, access) };
}

/** A reference to a resource that the server does not know is answered like one that the caller may not know of. */
export function visibleError(
  error: JsonRpcErrorObject,
  { era, method, params }: ClientRequest,
  access: ServerAccess,
): JsonRpcErrorObject {
  const uri = method === 'completion/complete' && isJsonObject(params?.ref) ? params.ref.uri : undefined;
  const isReplaced = access.enforced && error.code === INVALID_PARAMS && typeof uri === 'string';
  return isReplaced ? resourceNotFound(era, uri) : error;
}

/** What callers see of the entries of a list, for as long as both are what they are. */
const SEEN = new WeakMap<readonly JsonObject[], WeakMap<ServerAccess, readonly JsonObject[]>>();

/** The entries that a caller sees of the list of `method`. The same array for the same entries and caller. */
export function visibleOf(
  method: string,
  entries: readonly JsonObject[],
  access: ServerAccess,
): readonly JsonObject[] {
  const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
  if (access.whole || list === undefined) return entries;
  const byAccess = SEEN.get(entries) ?? new WeakMap<ServerAccess, readonly JsonObject[]>();
  SEEN.set(entries, byAccess);
  const seen = byAccess.get(access) ?? entries.filter((entry) => list.isVisible(entry, access));
  byAccess.set(access, seen);
  return seen;
}

function visibleEntries(
  entries: JsonValue | undefined,
  list: VisibleList,
  access: ServerAccess,
): JsonValue[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter((entry) => isJsonObject(entry) && list.isVisible(entry, access));
}

function sees(access: ServerAccess, kind: 'tools' | 'prompts' | 'resources', name: unknown): boolean {
  return typeof name === 'string' && access.decide(kind, name).verdict === 'allowed';
}

/** Values are kept where the URI that they complete is allowed, or could become one that is. */
function visibleCompletion(
  result: JsonObject,
  { method, params }: ClientRequest,
  access: ServerAccess,
): JsonObject {
  const { completion } = result;
  const { ref, argument, context } = params ?? {};
  if (method !== 'completion/complete' || access.whole) return result;
  if (!isJsonObject(completion) || !isJsonObject(ref) || !isJsonObject(argument)) return result;
  const { uri } = ref;
  const { name } = argument;
  if (typeof uri !== 'string' || typeof name !== 'string') return result;
  const known = isJsonObject(context) && isJsonObject(context.arguments) ? context.arguments : {};
  const values = Array.isArray(completion.values) ? completion.values : [];
  const kept = values.filter((value) => {
    const { text, complete } = expandTemplate(uri, { ...known, [name]: value });
    return complete ? sees(access, 'resources', text) : access.listsTemplate(text);
  });
  // The total would count what is hidden.
  const { total: _total, ...rest } = completion;
  return { ...result, completion: { ...rest, values: kept } };
}
