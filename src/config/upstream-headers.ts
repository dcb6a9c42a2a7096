// Headers that a server's entry may add to our requests. Those of a leg are computed for the message on that leg,
// and what a caller sent never goes upstream, so neither can be configured.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Fault, fault } from './fault.ts';

const HOP_HEADERS = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];
const MESSAGE_HEADERS = [
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
];
const CALLER_HEADERS = ['cookie', 'set-cookie', 'proxy-authorization', 'proxy-connection'];
const RESERVED = new Set([...HOP_HEADERS, ...MESSAGE_HEADERS, ...CALLER_HEADERS, 'last-event-id']);

export function headerNameFault(name: string): Fault | undefined {
  const lower = name.toLowerCase();
  if (!passes(() => validateHeaderName(name))) {
    return fault('this is not a header name', "Letters, digits and ! # $ % & ' * + - . ^ _ ` | ~.");
  }
  if (lower.startsWith('mcp-') || RESERVED.has(lower)) {
    return fault(`the header ${lower} is set by Portico itself, or never goes to a server`, 'Remove it.');
  }
  return undefined;
}

export function headerValueFault(value: string): Fault | undefined {
  // Node would send Latin-1; what a server makes of that is anybody's guess.
  const isPlain = passes(() => validateHeaderValue('x', value)) && /^[\t\x20-\x7e]*$/.test(value);
  if (!isPlain) return fault('a header value holds a line break or a character beyond ASCII', '');
  if (value !== value.trim()) return fault('a header value begins or ends with white space', 'Remove it.');
  return undefined;
}

/** Names that differ in letter case alone are one header. */
export function repeatedHeader(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name.toLowerCase()).size);
}

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
