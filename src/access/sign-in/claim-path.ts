// Where a claim stands: a name, or a dotted path into objects. A name wins over a path, since names of private
// claims are often URLs, with dots of their own (RFC 7519, section 4.2).
import { isJsonObject } from '../../protocol/json-text.ts';

export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
