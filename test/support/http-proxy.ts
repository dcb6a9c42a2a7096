// A forwarding HTTP proxy: absolute-form requests and CONNECT tunnels. It resolves names by a table of its own, so
// that a test can tell whether a request really came through it.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface HttpProxy {
  readonly url: string;
  /** `GET http://host/path` and `CONNECT host:port`, in order. */
  readonly seen: string[];
  readonly headers: IncomingMessage['headers'][];
  /** Answers CONNECT and requests with this status instead of passing them on. */
  refuseWith: number | undefined;
}

/** @param hosts name to port on 127.0.0.1 */
export async function startHttpProxy(
  t: TestContext,
  hosts: Readonly<Record<string, number>>,
  tls?: ServerOptions,
): Promise<HttpProxy> {
  const server = tls ? createTlsServer(tls) : createServer();
  const sockets = new Set<Socket>();
  const seen: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const note = (message: IncomingMessage) => {
    seen.push(`${message.method} ${message.url}`);
    headers.push(message.headers);
  };
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    note(incoming);
    const target = new URL(incoming.url ?? '');
    const port = hosts[target.hostname];
    if (proxy.refuseWith !== undefined || port === undefined) {
      response.writeHead(proxy.refuseWith ?? 502).end();
      return;
    }
    const path = `${target.pathname}${target.search}`;
    const onward = request({
      host: '127.0.0.1',
      port,
      path,
      method: incoming.method,
      headers: incoming.headers,
    });
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    note(incoming);
    const port = hosts[new URL(`http://${incoming.url}`).hostname];
    if (proxy.refuseWith !== undefined || port === undefined) {
      socket.end(`HTTP/1.1 ${proxy.refuseWith ?? 502} No\r\n\r\n`);
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy()).on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  const proxy: HttpProxy = {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    seen,
    headers,
    refuseWith: undefined,
  };
  return proxy;
}
