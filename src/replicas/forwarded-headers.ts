// The headers of a client's request that its home has to know; all others, what it signed in with among them, stay.
import type { IncomingHttpHeaders } from 'node:http';

/** A schema may name its parameters' headers by any token (RFC 9110, 5.6.2). */
const FORWARDED = /^(?:accept|last-event-id|traceparent|tracestate|baggage|mcp-[\w!#$%&'*+.^`|~-]+)$/;

/** By lower-case name, as Node gives them. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !isForwarded(name)) continue;
    forwarded[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return forwarded;
}

export function isForwarded(name: string): boolean {
  return FORWARDED.test(name);
}
