// Stands before a server and makes the suite's client speak an older revision: `initialize` asks for it, and the
// version header names it. Everything else passes byte for byte, and so does every answer.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

export interface RevisionShim extends AsyncDisposable {
  readonly url: string;
}

export async function startRevisionShim(target: string, revision: string): Promise<RevisionShim> {
  const server = createServer((request, response) => {
    // Either side may leave at any time; the other learns of it by its own socket.
    forward(request, response, { target, revision }).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { target, revision }: { target: string; revision: string },
): Promise<void> {
  const body = withRevision(await buffer(request), revision);
  const headers: IncomingHttpHeaders = { ...request.headers, host: hostFor(request, target) };
  if (headers['mcp-protocol-version'] !== undefined) headers['mcp-protocol-version'] = revision;
  if (headers['content-length'] !== undefined) headers['content-length'] = String(body.length);
  const outgoing = send(target, { method: request.method ?? 'GET', headers });
  response.once('close', () => outgoing.destroy());
  outgoing.end(body);
  const [answer]: IncomingMessage[] = await once(outgoing, 'response');
  if (answer === undefined) return;
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  await pipeline(answer, response);
}

/** The shim's own address becomes the target's; a foreign Host is what a scenario is about and stays. */
function hostFor(request: IncomingMessage, target: string): string {
  const own = `127.0.0.1:${request.socket.localPort}`;
  return request.headers.host === own ? new URL(target).host : (request.headers.host ?? '');
}

function withRevision(body: Buffer, revision: string): Buffer {
  if (!body.includes('"initialize"')) return body;
  const message = JSON.parse(body.toString());
  if (message.method !== 'initialize') return body;
  message.params.protocolVersion = revision;
  return Buffer.from(JSON.stringify(message));
}
