// What is wrong with a target that a config names.
import { type Fault, fault } from '../../config/fault.ts';
import { nearest } from '../../config/suggestion.ts';
import { parseTargetPattern, TargetPattern } from './target-pattern.ts';

/** @param servers the slugs of all that there are */
export function targetFault(text: string, servers: readonly string[]): Fault | undefined {
  const pattern = parseTargetPattern(text);
  if (!(pattern instanceof TargetPattern)) return pattern;
  if (pattern.server === undefined || servers.includes(pattern.server)) return undefined;
  const close = nearest(pattern.server, servers);
  const hint = close === undefined ? 'Name one of mcpServers.' : `Did you mean ${close}?`;
  return fault(`there is no server ${pattern.server}`, hint);
}

/** A slip that would leave a refusal without effect. */
export function kindDoubt(text: string): Fault | undefined {
  const [, server, kind] = /^([^/]+)\/(tool|prompt|resource)\//.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return fault(
    `this means tools with names that begin with ${kind}/`,
    `Write ${server}/${kind}s/... for ${kind}s.`,
  );
}
