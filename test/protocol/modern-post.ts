// A request of 2026-07-28 as the POST that carries it: the body, and the headers that mirror it.
import type { ClientMessage, MessageHeaders, Refusal } from '../../src/protocol/client-message.ts';
import { readClientMessage } from '../../src/protocol/client-message.ts';
import { META, MODERN_VERSION } from '../../src/protocol/era.ts';

export interface Post {
  readonly headers: MessageHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface PostChanges {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Added to the required `_meta`; undefined takes a key away. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Added to the headers that belong to the body; undefined takes one away. */
  readonly headers?: MessageHeaders;
}

/** A faultless request, but for the changes. The headers mirror what the body would be without `headers`. */
export function modernPost(changes: PostChanges = {}): Post {
  const { id = 7, method = 'tools/call', params = { name: 'echo', arguments: {} } } = changes;
  const name = params.uri ?? params.name;
  const version = changes.meta?.[META.protocolVersion] ?? MODERN_VERSION;
  const _meta = { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {}, ...changes.meta };
  return {
    headers: {
      'mcp-protocol-version': String(version),
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...changes.headers,
    },
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
  };
}

export function read(body: unknown, headers: MessageHeaders = {}): ClientMessage | Refusal {
  return readText(JSON.stringify(body), headers);
}

export function readText(text: string, headers: MessageHeaders = {}): ClientMessage | Refusal {
  return readClientMessage(Buffer.from(text), headers);
}

/** What became of a message, in few words: `modern request`, or `refused header-mismatch`. */
export function outcomeOf(message: ClientMessage | Refusal): string {
  return message.kind === 'refused' ? `refused ${message.failure}` : `${message.era} ${message.kind}`;
}
