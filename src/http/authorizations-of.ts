// The Authorization headers of a request, each by itself. Node would take all of its headers apart for that.
import type { IncomingMessage } from 'node:http';

const NAME = 'authorization';

/** In order; undefined where there is none. */
export function authorizationsOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string[] | undefined {
  let found: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== NAME.length || name.toLowerCase() !== NAME) continue;
    found ??= [];
    found.push(rawHeaders[at + 1] as string);
  }
  return found;
}
