// A load balancer as far as Portico can tell: strict round robin, a new upstream socket for each request, both ways
// streamed as the bytes come. Where a replica takes no connection the next one is asked; what was sent is not sent again.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ProxiedReplica {
  readonly port: number;
  /** Requests that it took. */
  readonly taken: number;
  /** Connections that it did not take; another replica was asked. */
  readonly refused: number;
  /** Whether new requests may go there; true at first. */
  isIn: boolean;
}

export interface RoundRobinProxy extends AsyncDisposable {
  readonly port: number;
  /** In the order of their ports. */
  readonly replicas: readonly ProxiedReplica[];
  /** Cuts what is still open. Idempotent. */
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Of the replicas, on 127.0.0.1. */
  readonly ports: readonly number[];
  /** Where the proxy listens; by default on any free port. */
  readonly port?: number;
  /** How long a connection may take. */
  readonly connectTimeoutMs?: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Of one hop each. Node writes them itself. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

export async function startRoundRobinProxy(options: ProxyOptions): Promise<RoundRobinProxy> {
  const { ports, port = 0, connectTimeoutMs = 20_000 } = options;
  const replicas: Mutable<ProxiedReplica>[] = ports.map((each) => ({
    ...{ port: each, taken: 0, refused: 0, isIn: true },
  }));
  let turn = 0;

  /** Those that are in, beginning with the one whose turn it is. */
  function inTurn(): Mutable<ProxiedReplica>[] {
    const there = replicas.filter(({ isIn }) => isIn);
    const first = turn % (there.length || 1);
    turn += 1;
    return [...there.slice(first), ...there.slice(0, first)];
  }

  function pass(incoming: IncomingMessage, response: ServerResponse): void {
    tryNext(incoming, response, inTurn());
  }

  function tryNext(
    incoming: IncomingMessage,
    response: ServerResponse,
    [replica, ...others]: Mutable<ProxiedReplica>[],
  ): void {
    if (replica === undefined) {
      response.destroy();
      return;
    }
    const agent = new Agent({ keepAlive: true });
    const onward = request({
      agent,
      host: '127.0.0.1',
      port: replica.port,
      path: incoming.url,
      method: incoming.method,
      headers: endToEnd(incoming.rawHeaders),
    });
    let connected = false;
    const late = setTimeout(() => onward.destroy(), connectTimeoutMs);
    const leave = () => onward.destroy();
    response.once('close', leave);
    onward.once('socket', (socket: Socket) => {
      socket.setNoDelay(true).once('connect', () => {
        clearTimeout(late);
        connected = true;
        replica.taken += 1;
        incoming.pipe(onward);
      });
    });
    let isWhole = false;
    onward.once('response', (answer) => {
      answer.once('end', () => {
        isWhole = answer.complete;
      });
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
      response.flushHeaders();
      answer.pipe(response);
      answer.once('error', () => response.destroy());
      if (/\bclose\b/i.test(answer.headers.connection ?? '')) response.shouldKeepAlive = false;
    });
    onward.on('error', () => {});
    onward.once('close', () => {
      clearTimeout(late);
      agent.destroy();
      response.off('close', leave);
      if (!connected && !response.destroyed) {
        replica.refused += 1;
        tryNext(incoming, response, others);
      } else if (!isWhole) response.destroy();
    });
  }

  // As patient as a balancer is: the replicas' own limits are those that a client meets.
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0, headersTimeout: 0 }, pass);
  server.on('connection', (socket) => socket.setNoDelay(true));
  server.listen({ port, host: '127.0.0.1', backlog: 4_096 });
  await once(server, 'listening');

  async function end(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };
  return { port: (server.address() as AddressInfo).port, replicas, close, [Symbol.asyncDispose]: close };
}

/** With their case, their order and their repetitions. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
