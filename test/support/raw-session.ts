// What the two kinds of raw client say: requests of the modern revision, and a session of the older ones.
import type { RawAnswer } from './raw-answer.ts';
import {
  type Members,
  type Message,
  RawClient,
  type RawClientOptions,
  type RawExchange,
} from './raw-client.ts';

export const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export interface SayOptions {
  /** The id as it stands on the wire: `1`, `"a"`, `9007199254740993`. */
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** More members of `params._meta`. */
  readonly meta?: Members;
  readonly url?: string;
}

/** A client of 2026-07-28: all that it says stands in each request. */
export class ModernClient extends RawClient {
  readonly #capabilities: Members;

  constructor(
    url: string,
    { capabilities = {}, ...options }: RawClientOptions & { capabilities?: Members } = {},
  ) {
    super(url, options);
    this.#capabilities = capabilities;
  }

  start(
    method: string,
    params: Members = {},
    { id = '1', headers = {}, meta = {}, url }: SayOptions = {},
  ): RawExchange {
    const _meta = {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: { name: 'raw', version: '1' },
      [`${META}clientCapabilities`]: this.#capabilities,
      ...meta,
    };
    const name = params[NAMED[method] ?? ''];
    const own = {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    };
    const body = requestText(id, method, { ...params, _meta });
    return this.begin({ body, headers: { ...own, ...headers }, ...(url === undefined ? {} : { url }) });
  }

  async ask(method: string, params: Members = {}, options: SayOptions = {}): Promise<Message> {
    return (await (await this.start(method, params, options).answer).whole()).response;
  }

  /** Calls a tool; the text of its answer. */
  async tool(name: string, args: Members = {}, options: SayOptions = {}): Promise<string> {
    return textOf(await this.ask('tools/call', { name, arguments: args }, options));
  }
}

export interface SessionOptions extends RawClientOptions {
  readonly version?: string;
  readonly capabilities?: Members;
  /** False leaves `notifications/initialized` out. */
  readonly initialized?: boolean;
}

/** Opens a session as a client of 2025-11-25 would. */
export async function openSession(url: string, options: SessionOptions = {}): Promise<RawSession> {
  const { version = '2025-11-25', capabilities = {}, initialized = true, ...rest } = options;
  const session = new RawSession(url, rest);
  const answer = await session.initialize(version, capabilities);
  if (answer.error !== undefined) throw new Error(`initialize was refused: ${JSON.stringify(answer.error)}`);
  if (initialized) await session.notify('notifications/initialized');
  return session;
}

/** The same session, as a client knows it that asks at another URL, or as somebody else. */
export function through(url: string, session: RawSession, options: RawClientOptions = {}): RawSession {
  const other = new RawSession(url, options);
  other.id = session.id;
  other.version = session.version;
  return other;
}

export class RawSession extends RawClient {
  id = '';
  version = '';
  #lastId = 0;

  async initialize(protocolVersion: string, capabilities: Members): Promise<Message> {
    const params = { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } };
    const answer = await this.send({ body: requestText('0', 'initialize', params) });
    const message = await answer.json();
    this.id = String(answer.headers['mcp-session-id'] ?? '');
    this.version = String(message.result?.protocolVersion ?? '');
    return message;
  }

  get headers(): Record<string, string> {
    return { 'mcp-session-id': this.id, 'mcp-protocol-version': this.version };
  }

  start(method: string, params: Members = {}, { id, headers = {}, meta }: SayOptions = {}): RawExchange {
    this.#lastId += 1;
    const said = meta === undefined ? params : { ...params, _meta: meta };
    const body = requestText(id ?? String(this.#lastId), method, said);
    return this.begin({ body, headers: { ...this.headers, ...headers } });
  }

  async ask(method: string, params: Members = {}, options: SayOptions = {}): Promise<Message> {
    return (await (await this.start(method, params, options).answer).whole()).response;
  }

  /** Calls a tool; the text of its answer. */
  async tool(name: string, args: Members = {}, options: SayOptions = {}): Promise<string> {
    return textOf(await this.ask('tools/call', { name, arguments: args }, options));
  }

  /** Resolves with the HTTP status. */
  async notify(method: string, params?: Members): Promise<number> {
    const { status } = await this.say({ jsonrpc: '2.0', method, ...(params && { params }) });
    return status;
  }

  async respond(id: unknown, outcome: Pick<Message, 'result'> | Pick<Message, 'error'>): Promise<number> {
    return (await this.say({ jsonrpc: '2.0', id, ...outcome })).status;
  }

  /** POSTs whatever it is in the session, to the end of the answer. */
  async say(body: unknown): Promise<RawAnswer> {
    const answer = await this.send({ body, headers: this.headers });
    if (answer.status === 202) await answer.text();
    return answer;
  }

  /** Opens the GET stream, or resumes a stream after an event. */
  listen(lastEventId?: string): Promise<RawAnswer> {
    const resume: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return this.send({ method: 'GET', headers: { ...this.headers, ...resume } });
  }

  /** Resolves with the HTTP status. */
  async delete(): Promise<number> {
    const answer = await this.send({ method: 'DELETE', headers: this.headers });
    await answer.text();
    return answer.status;
  }
}

export function requestText(id: string, method: string, params: Members): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export function textOf({ result, error }: Message): string {
  if (result === undefined) throw new Error(`answered with error ${JSON.stringify(error)}`);
  const [block] = (result.content ?? []) as { text?: string }[];
  return block?.text ?? '';
}
