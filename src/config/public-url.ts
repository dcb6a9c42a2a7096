// `gateway.publicUrl`: the one source of our own URLs. Tokens name it, so it is never normalised, only judged.
import { isLoopbackHost, urlHost } from './addresses.ts';
import { type Fault, fault } from './fault.ts';

export function publicUrlFault(url: string): Fault | undefined {
  if (/[\s\\]/.test(url) || !/^https?:\/\/[^/?#]/.test(url) || !URL.canParse(url)) {
    return fault('expected an http:// or https:// URL', 'As in https://mcp.example.com.');
  }
  const [, authority = '', path = ''] = /^https?:\/\/([^/?#]*)([^?#]*)/.exec(url) ?? [];
  if (authority.includes('@')) return fault('a user or password has no place in publicUrl', 'Remove it.');
  if (url.includes('?')) return fault('publicUrl has a query', 'Remove it.');
  if (url.includes('#')) return fault('publicUrl has a fragment', 'Remove it.');
  if (path.endsWith('/')) return fault('publicUrl ends in a slash', 'Remove the slash.');
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(path) || /\/\.{1,2}(\/|$)/.test(path)) {
    return fault(
      'the base path of publicUrl is not plain',
      'Letters, digits and . _ ~ - between single slashes.',
    );
  }
  return undefined;
}

/** What is likely not meant, though it is allowed. */
export function publicUrlDoubt(url: string): Fault | undefined {
  if (/\/mcp$/.test(url)) {
    return fault('publicUrl ends in /mcp, so the endpoint will be /mcp/mcp', 'Leave /mcp off.');
  }
  if (url.startsWith('http:') && URL.canParse(url) && !isLoopbackHost(new URL(url).hostname)) {
    return fault('publicUrl is plain http', 'Tokens would travel in the clear; use https.');
  }
  return undefined;
}

export function defaultPublicUrl(listen: { host: string; port: number; tls: boolean }): string {
  return `${listen.tls ? 'https' : 'http'}://${urlHost(listen.host)}:${listen.port}`;
}
