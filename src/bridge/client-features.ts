// What a client can do, as it is declared to a server: less what the server's policy (`client:` of its config)
// denies, and for servers of the other era in one normal form, since links and lists are kept by it.
import type { ClientFeaturePolicy } from '../config/config.ts';
import type { Era } from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/**
 * The capabilities to declare upstream: the client's own, less what the server's policy denies. A fixed list of roots
 * is answered by Portico, on links where a server can ask it: there it exists whether the client has roots or not.
 */
export function declaredCapabilities(
  capabilities: JsonObject,
  policy: ClientFeaturePolicy,
  { fixedRoots }: { fixedRoots: boolean },
): JsonObject {
  const { roots, sampling, elicitation, ...rest } = capabilities;
  const declared: JsonObject = rest;
  if (Array.isArray(policy.roots)) {
    // Inside a task of the extension the question would reach the client, and the client's own roots the server.
    if (fixedRoots && !hasTasks(capabilities)) declared.roots = {};
  } else if (policy.roots === 'allow' && roots !== undefined) declared.roots = roots;
  if (policy.sampling === 'allow' && sampling !== undefined) declared.sampling = sampling;
  if (policy.elicitation === 'allow' && elicitation !== undefined) declared.elicitation = elicitation;
  return declared;
}

function hasTasks({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}

/**
 * The features that questions can be carried for across the eras, in one order and form: equal sets give equal JSON.
 * `elicitation: {}` means form. `roots.listChanged`, `tasks` and what is unknown are left out.
 */
export function normalCapabilities(capabilities: JsonObject): JsonObject {
  const normal: JsonObject = {};
  const { roots, sampling, elicitation } = capabilities;
  if (isJsonObject(elicitation)) {
    const form = elicitation.form !== undefined || elicitation.url === undefined;
    normal.elicitation = {
      ...(form ? { form: {} } : {}),
      ...(elicitation.url === undefined ? {} : { url: {} }),
    };
  }
  if (isJsonObject(roots)) normal.roots = {};
  if (isJsonObject(sampling)) {
    normal.sampling = {
      ...(sampling.context === undefined ? {} : { context: {} }),
      ...(sampling.tools === undefined ? {} : { tools: {} }),
    };
  }
  return normal;
}

/** What is declared to a server of the other era on behalf of a client: by this links and lists are kept. */
export function crossedCapabilities(capabilities: JsonObject, policy: ClientFeaturePolicy): JsonObject {
  return normalCapabilities(declaredCapabilities(capabilities, policy, { fixedRoots: true }));
}

/** What a modern server is told with each request: its own era's words as they are, across the eras the normal form. */
export function capabilitiesForModern(
  { era, capabilities }: { readonly era: Era; readonly capabilities: JsonObject },
  policy: ClientFeaturePolicy,
): JsonObject {
  return era === 'modern'
    ? declaredCapabilities(capabilities, policy, { fixedRoots: true })
    : crossedCapabilities(capabilities, policy);
}

/** Why a server's question cannot be put to a client that declared `declared`; undefined where it can. */
export function missingCapability(
  question: { readonly method: string; readonly params?: JsonObject | undefined },
  declared: JsonObject,
): { readonly required: JsonObject; readonly code: 'feature' | 'mode' } | undefined {
  const { method, params } = question;
  if (method === 'roots/list')
    return declared.roots === undefined ? { required: { roots: {} }, code: 'feature' } : undefined;
  if (method === 'sampling/createMessage') return missingSampling(params, declared);
  if (method === 'elicitation/create') return missingElicitation(params, declared);
  return { required: {}, code: 'feature' };
}

function missingSampling(
  params: JsonObject | undefined,
  declared: JsonObject,
): ReturnType<typeof missingCapability> {
  const { sampling } = declared;
  if (!isJsonObject(sampling)) return { required: { sampling: {} }, code: 'feature' };
  const wantsTools = params?.tools !== undefined || params?.toolChoice !== undefined;
  if (!wantsTools || sampling.tools !== undefined) return undefined;
  return { required: { sampling: { tools: {} } }, code: 'mode' };
}

function missingElicitation(
  params: JsonObject | undefined,
  declared: JsonObject,
): ReturnType<typeof missingCapability> {
  const { elicitation } = declared;
  const mode = params?.mode === 'url' ? 'url' : 'form';
  if (!isJsonObject(elicitation)) return { required: { elicitation: { [mode]: {} } }, code: 'feature' };
  const hasMode = elicitation[mode] !== undefined || (mode === 'form' && elicitation.url === undefined);
  return hasMode ? undefined : { required: { elicitation: { [mode]: {} } }, code: 'mode' };
}
