// What clients of either era say, as the bytes of HTTP/1.1.
import type { ResultSize } from '../raw/answers.ts';
import type { LoadRequest } from './load-job.ts';

export type Era = 'modern' | 'legacy';

/** A call of one of the raw server's tools. */
export interface Call {
  readonly era: Era;
  readonly size: ResultSize;
  /** The server answers with an event stream. */
  readonly events: boolean;
}

export interface Endpoint {
  readonly port: number;
  readonly path: string;
}

/** One caller: what it signs in with, and its session where its era has one. */
export interface Caller {
  readonly token: string | undefined;
  readonly session: string | undefined;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const CLIENT = { name: 'bench', version: '1' };

export function toolOf({ size, events }: Pick<Call, 'size' | 'events'>): string {
  return events ? `${size}_events` : size;
}

/** @param prefix of the tool's name, where there is one */
export function callRequest(
  call: Call,
  { path, port, caller, id, prefix = '' }: Endpoint & { caller: Caller; id: string; prefix?: string },
): LoadRequest {
  const name = prefix + toolOf(call);
  const _meta =
    call.era === 'modern'
      ? {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientInfo': CLIENT,
          'io.modelcontextprotocol/clientCapabilities': {},
        }
      : undefined;
  const params = { name, arguments: { text: 'hello' }, _meta };
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${JSON.stringify(params)}}`;
  const named = call.era === 'modern' ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {};
  const headers = { ...headersOf(call.era, caller), ...named };
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([header, value]) => `${header}: ${value}\r\n`).join('');
  return { id, bytes: `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${head}\r\n${body}` };
}

/** Opens a session as a client of 2025-11-25 does. @throws Error where it is refused */
export async function openSession(
  { port, path }: Endpoint,
  token: string | undefined,
): Promise<string | undefined> {
  const url = `http://127.0.0.1:${port}${path}`;
  const say = (message: object, session?: string) =>
    fetch(url, {
      method: 'POST',
      headers: headersOf('legacy', { token, session }),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT };
  const answer = await say({ id: 0, method: 'initialize', params });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${url} refuses initialize: ${answer.status} ${body.slice(0, 300)}`);
  const session = answer.headers.get('mcp-session-id') ?? undefined;
  await (await say({ method: 'notifications/initialized' }, session)).text();
  return session;
}

function headersOf(era: Era, { token, session }: Caller): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': era === 'modern' ? MODERN : LEGACY,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(session === undefined ? {} : { 'Mcp-Session-Id': session }),
  };
}
