// A server may advertise a kind of thing and not know one of its lists, templates above all: then it has none (F31).
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import type { JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { Peer } from '../../servers/peer.ts';

/** The capability that promises each list, and where its items stand. */
const LISTS: Readonly<Record<string, { readonly capability: string; readonly member: string }>> = {
  'tools/list': { capability: 'tools', member: 'tools' },
  'prompts/list': { capability: 'prompts', member: 'prompts' },
  'resources/list': { capability: 'resources', member: 'resources' },
  'resources/templates/list': { capability: 'resources', member: 'resourceTemplates' },
};

/** The outcome as it is, or an empty list of the server's era in place of "method not found". */
export function emptyWhereAbsent(
  outcome: JsonRpcOutcome,
  method: string,
  { era, capabilities }: Peer,
): JsonRpcOutcome {
  if (!('error' in outcome) || outcome.error.code !== METHOD_NOT_FOUND) return outcome;
  const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
  if (list === undefined || capabilities[list.capability] === undefined) return outcome;
  const empty = { [list.member]: [] };
  if (era === 'legacy') return { result: empty };
  return { result: { resultType: 'complete', ...empty, ttlMs: 0, cacheScope: 'private' } };
}
