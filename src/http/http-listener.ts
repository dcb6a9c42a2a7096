// A listening HTTP or HTTPS server: its addresses, its clocks, and an end that neither hangs nor cuts answers off.
// Knows nothing of routes; Fastify is the handler.
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import http, { type RequestListener, type Server, type ServerOptions } from 'node:http';
import https from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import type { FailureCode } from '../errors.ts';
import { answerBrokenRequest } from './broken-request.ts';
import type { HttpTiming } from './http-timing.ts';

export interface HttpListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly timing: HttpTiming;
  readonly handler: RequestListener;
  /** Bytes that were no request, and have been answered. */
  onBroken?(code: FailureCode): void;
  onProblem?(error: Error): void;
}

export interface HttpListener {
  /** Binds every address of the host. @returns their URLs; rejects when the first cannot be bound */
  listen(): Promise<readonly string[]>;
  /** True once `stopAccepting` was called. */
  readonly stopping: boolean;
  /** Takes no new connection, closes idle ones, and the busy ones as they become idle. Idempotent. */
  stopAccepting(): void;
  /** Stops, lets what is being written reach the wire for at most `closeFlushMs`, then cuts. Idempotent. */
  close(): Promise<void>;
}

/** Connections that wait to be accepted; of a crowd beyond it some are reset. The system's own bound is mostly this. */
const BACKLOG = 4_096;

export function createHttpListener(options: HttpListenerOptions): HttpListener {
  const servers: { server: Server; ended: Promise<unknown> }[] = [];
  let stopping = false;

  async function bind(address: string, port: number): Promise<number> {
    const server = createServer(options);
    server.listen({ host: address, port, backlog: BACKLOG });
    await once(server, 'listening');
    if (stopping) {
      server.close();
      throw new Error('Closed before it could listen');
    }
    // What a running server reports is a connection that could not be accepted: no reason to go down.
    server.on('error', (error) => options.onProblem?.(error));
    servers.push({ server, ended: once(server, 'close') });
    return (server.address() as AddressInfo).port;
  }

  async function listen(): Promise<readonly string[]> {
    const [first, ...others] = await addressesOf(options.host);
    const scheme = options.tls === undefined ? 'http' : 'https';
    const url = (address: string, port: number) =>
      `${scheme}://${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
    const port = await bind(first, options.port);
    const urls = [url(first, port)];
    for (const address of others) {
      // A name such as localhost may have an address that this machine does not.
      await bind(address, port).then(
        () => urls.push(url(address, port)),
        () => undefined,
      );
    }
    return urls;
  }

  function stopAccepting(): void {
    if (stopping) return;
    stopping = true;
    for (const { server } of servers) {
      server.close();
      // A connection whose answer is on its way is closed a moment after it becomes idle.
      server.keepAliveTimeout = 1;
      server.keepAliveTimeoutBuffer = 0;
    }
  }

  async function close(): Promise<void> {
    stopAccepting();
    const ended = Promise.all(servers.map((entry) => entry.ended));
    const cut = setTimeout(() => {
      for (const { server } of servers) server.closeAllConnections();
    }, options.timing.closeFlushMs);
    await ended;
    clearTimeout(cut);
  }

  return {
    listen,
    stopAccepting,
    close,
    get stopping() {
      return stopping;
    },
  };
}

function createServer({ tls, timing, handler, onBroken }: HttpListenerOptions): Server {
  const settings: ServerOptions = {
    keepAliveTimeout: timing.keepAliveTimeoutMs,
    headersTimeout: timing.headersTimeoutMs,
    requestTimeout: timing.requestTimeoutMs,
    connectionsCheckingInterval: timing.connectionsCheckMs,
    maxHeaderSize: timing.maxHeaderBytes,
    // A second Host, Authorization or Content-Type shows as "a, b" and fails its check; Node would drop it in silence.
    joinDuplicateHeaders: true,
    // Judged by us, which answers in JSON.
    requireHostHeader: false,
    // Finds peers that are gone while a call says nothing.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    noDelay: true,
  };
  const server: Server =
    tls === undefined
      ? http.createServer(settings, handler)
      : https.createServer({ ...settings, ...tls, handshakeTimeout: 20_000 }, handler);
  // Bounded by their size; a bound by number would drop the rest in silence.
  server.maxHeadersCount = 0;
  // Whoever reads the body says when the client may go on.
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  server.on('clientError', (error, socket) => {
    const code = answerBrokenRequest(error, socket);
    if (code !== undefined) onBroken?.(code);
  });
  return server;
}

async function addressesOf(host: string): Promise<[string, ...string[]]> {
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true });
  const [first = host, ...others] = [...new Set(found.map((entry) => entry.address))];
  return [first, ...others];
}
