// Params that a legacy server's revision does not know yet.
import { isAtLeast } from '../../protocol/era.ts';
import type { JsonObject } from '../../protocol/json-text.ts';

const COMPLETION_CONTEXT_SINCE = '2025-06-18';

/** The params of a request in terms of the server's revision. */
export function forServer(
  method: string,
  params: JsonObject | undefined,
  version: string,
): JsonObject | undefined {
  if (
    method !== 'completion/complete' ||
    params === undefined ||
    isAtLeast(version, COMPLETION_CONTEXT_SINCE)
  ) {
    return params;
  }
  const { context: _context, ...known } = params;
  return known;
}
