// From the names that clients use to the server's own, which rules, limits, logs and the server itself go by.
import type { ToolShape } from '../federation/tool-shape.ts';
import type { ClientRequest } from '../protocol/client-message.ts';
import type { Permit } from './permit.ts';

/** A tool that the config leaves out, or shows under another name, is hidden from here on. */
export function ownRequest<Request extends ClientRequest>(
  shape: ToolShape,
  request: Request,
): Permit<Request> {
  const shown = request.method === 'tools/call' ? request.params?.name : undefined;
  if (typeof shown !== 'string') return { request, hidden: false };
  const own = shape.ownName(shown);
  if (own === undefined) return { request, hidden: true };
  if (own === shown) return { request, hidden: false };
  return { request: { ...request, params: { ...request.params, name: own } }, hidden: false };
}
