// A parsed request or notification of a server, as transports hand it on.
import { exactId, type JsonRpcMessage } from '../../protocol/json-rpc.ts';
import type { ServerMessage } from '../transport.ts';

export function asServerMessage(
  message: Extract<JsonRpcMessage, { kind: 'request' | 'notification' }>,
): ServerMessage {
  const { method, params } = message;
  const body = { jsonrpc: '2.0', method, ...(params && { params }) } as const;
  return message.kind === 'request' ? { ...body, id: exactId(message) } : body;
}
