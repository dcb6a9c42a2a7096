// A server over HTTP, of one era, in the test's own process, with something of every kind for some callers and not for
// others. It reads URIs as carelessly as real ones do, and remembers all that it was asked.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { CAPABILITIES, type LibraryEra, lookUp, NotThere } from './library-shelves.ts';
import type { Members, Message } from './raw-client.ts';

export async function startLibrary(era: LibraryEra): Promise<LibraryServer> {
  const library = new LibraryServer(era);
  await library.listen();
  return library;
}

export class LibraryServer implements AsyncDisposable {
  readonly era: LibraryEra;
  /** Requests and notifications, in the order in which they came. */
  readonly asked: Message[] = [];
  readonly #server: Server;
  /** Open streams: of GET, and of listens with their subscription id. */
  readonly #streams = new Map<ServerResponse, unknown>();
  #waiting: (() => void)[] = [];

  constructor(era: LibraryEra) {
    this.era = era;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Whether it was ever asked this, about that. */
  wasAsked(method: string, about?: string): boolean {
    return this.asked.some(
      ({ method: asked, params }) =>
        asked === method && (about === undefined || JSON.stringify(params ?? {}).includes(about)),
    );
  }

  /** The params of the last request of that method. */
  lastParams(method: string): Members | undefined {
    return this.asked.findLast((message) => message.method === method)?.params;
  }

  /** Says something that belongs to no call, to everyone who listens. */
  announce(method: string, params: Members = {}): void {
    for (const [response, subscription] of this.#streams) {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': subscription };
      const said = subscription === undefined ? params : { ...params, _meta };
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method, params: said })}\n\n`);
    }
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Resolves once so many streams are open. */
  async untilStreams(count: number): Promise<void> {
    while (this.#streams.size < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when a call of that tool has come in. */
  async untilCalled(name: string): Promise<void> {
    while (!this.wasAsked('tools/call', `"${name}"`)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Lets calls of `slow` end. */
  release: () => void = () => {};
  #released = Promise.resolve();

  /** From here on calls of `slow`, and subscriptions of resources, wait for `release`. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#released = promise;
    this.release = resolve;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && this.era === 'legacy') return this.#open(response, undefined);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = (await json(request)) as Message;
    this.asked.push(message);
    this.#changed();
    if (message.method === undefined || message.id === undefined) return void response.writeHead(202).end();
    const isModern = 'io.modelcontextprotocol/protocolVersion' in ((message.params?._meta ?? {}) as Members);
    if (isModern !== (this.era === 'modern')) return void response.writeHead(400).end('Bad Request');
    if (message.method === 'subscriptions/listen') return this.#listen(message, response);
    const isSlow = message.params?.name === 'slow' || message.method === 'resources/subscribe';
    if (isSlow) await this.#released;
    if (message.params?.name === 'gossip') return this.#gossip(message, response);
    await this.#answer(message, response);
  }

  async #answer({ id, method = '', params = {} }: Message, response: ServerResponse): Promise<void> {
    const headers = method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
    const outcome = this.#outcome(method, params);
    const status = this.era === 'modern' && 'error' in outcome && outcome.error.code === -32601 ? 404 : 200;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  }

  /** A tool that talks of its resources on the call's own stream before it answers. */
  #gossip({ id, method = '', params = {} }: Message, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (message: object) =>
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
    for (const uri of ['file:///srv/secret/plan.txt', 'file:///srv/public/a.txt']) {
      say({ method: 'notifications/resources/updated', params: { uri } });
    }
    say({ id, ...this.#outcome(method, params) });
    response.end();
  }

  #outcome(method: string, params: Members): { result: Members } | { error: NonNullable<Message['error']> } {
    const serverInfo = { name: 'library', version: '1' };
    const capabilities = CAPABILITIES[this.era];
    if (this.era === 'legacy' && method === 'initialize') {
      return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } };
    }
    if (this.era === 'modern' && method === 'server/discover') {
      return {
        result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0 },
      };
    }
    try {
      return { result: lookUp(method, params, this.era) };
    } catch (thrown) {
      if (!(thrown instanceof NotThere)) throw thrown;
      return { error: { code: thrown.code, message: thrown.message, ...thrown.more } };
    }
  }

  #listen({ id, params = {} }: Message, response: ServerResponse): void {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    this.#open(response, id);
    const said = { method: 'notifications/subscriptions/acknowledged', params: { _meta, ...params } };
    response.write(
      `data: ${JSON.stringify({ jsonrpc: '2.0', ...said, params: { ...said.params, _meta } })}\n\n`,
    );
  }

  #open(response: ServerResponse, subscription: unknown): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    this.#streams.set(response, subscription);
    this.#changed();
    response.once('close', () => this.#streams.delete(response));
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
