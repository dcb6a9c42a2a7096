// What the faulty HTTP server says when it behaves: both eras, written by hand from the specification, so that it
// shares no mistake with the code under test.
import type { IncomingHttpHeaders } from 'node:http';
import { FAULTY_TOOLS, type Members, type Message } from './faulty-http-tools.ts';

export const MODERN = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
const HINTED = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
];

/** One page of a list under the cursor that asks for it; '' is the first. */
export type Pages = Readonly<
  Record<string, { readonly items: readonly Members[]; readonly nextCursor?: string }>
>;

export interface Persona {
  readonly name: string;
  readonly capabilities: Members;
  /** Of `tools/list`; a cursor that is not among them is an error. */
  readonly toolPages: Pages;
  /** URIs; what is read at any of them is the name of the persona. */
  readonly resources: readonly string[];
  readonly templates: readonly string[];
  readonly legacyVersion: string | undefined;
}

export const DEFAULT_PERSONA: Persona = {
  name: 'faulty-http-server',
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {} },
  toolPages: { '': { items: FAULTY_TOOLS } },
  resources: ['test://one'],
  templates: [],
  legacyVersion: undefined,
};

export function isModern({ params }: Message): boolean {
  return VERSION_KEY in ((params?._meta ?? {}) as Members);
}

/** The refusal of a modern request whose headers or metadata are wrong, with its HTTP status. */
export function refuseModern(
  { method = '', params = {} }: Message,
  headers: IncomingHttpHeaders,
): { status: number; error: NonNullable<Message['error']> } | undefined {
  const meta = (params._meta ?? {}) as Members;
  const version = meta[VERSION_KEY];
  const field = NAMED[method];
  if (typeof meta[CAPABILITIES_KEY] !== 'object') return refusal(-32602, 'capabilities are missing');
  if (headers['mcp-protocol-version'] !== version) return refusal(-32020, 'MCP-Protocol-Version');
  if (headers['mcp-method'] !== method) return refusal(-32020, 'Mcp-Method');
  if (field !== undefined && decode(headers['mcp-name']) !== params[field])
    return refusal(-32020, 'Mcp-Name');
  if (version !== MODERN) return refusal(-32022, 'version', { supported: [MODERN], requested: version });
  return undefined;
}

function refusal(code: number, message: string, data?: Members) {
  return { status: 400, error: { code, message, ...(data && { data }) } };
}

function decode(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  const encoded = /^=\?base64\?(.*)\?=$/.exec(text ?? '')?.[1];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString('utf8');
}

/** The result of every request but `tools/call` and `subscriptions/listen`, or an error. */
export function answerPlainly(
  { method = '', params = {} }: Message,
  modern: boolean,
  persona: Persona,
): Pick<Message, 'result'> | Pick<Message, 'error'> {
  const result = resultOf(method, params, modern, persona);
  if (result === undefined) return { error: { code: -32601, message: 'Method not found' } };
  if ('error' in result) return result as Pick<Message, 'error'>;
  const hints =
    HINTED.includes(method) || method === 'resources/read' ? { ttlMs: 0, cacheScope: 'private' } : {};
  return { result: modern ? { resultType: 'complete', ...hints, ...result } : result };
}

function resultOf(method: string, params: Members, modern: boolean, persona: Persona): Members | undefined {
  const serverInfo = { name: persona.name, version: '1.0.0' };
  const { capabilities } = persona;
  switch (method) {
    case 'server/discover': {
      const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
      return modern ? { supportedVersions: [MODERN], capabilities, _meta } : undefined;
    }
    case 'initialize': {
      const protocolVersion = persona.legacyVersion ?? params.protocolVersion;
      return modern ? undefined : { protocolVersion, capabilities, serverInfo };
    }
    case 'ping':
    case 'logging/setLevel':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return modern ? undefined : {};
    case 'tools/list': {
      const page = persona.toolPages[String(params.cursor ?? '')];
      if (page === undefined) return { error: { code: -32602, message: 'no such cursor' } };
      const { items, nextCursor } = page;
      return { tools: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
    }
    case 'resources/list':
      return { resources: persona.resources.map((uri) => ({ uri, name: uri })) };
    case 'resources/templates/list':
      return {
        resourceTemplates: persona.templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      };
    case 'resources/read':
      return { contents: [{ uri: params.uri, text: persona.name }] };
    case 'prompts/list':
      return { prompts: [{ name: 'greet' }] };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] };
    case 'completion/complete':
      return { completion: { values: ['a', 'b'] } };
    default:
      return undefined;
  }
}
