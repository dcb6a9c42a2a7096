// An HTTP listener on loopback for the tests' servers: parses the body, answers 500 where a handler throws.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** `body` is the parsed JSON of a POST, undefined otherwise and where it is no JSON. */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
) => Promise<void>;

/** Listens on 127.0.0.1 for as long as the process lives; port 0 takes a free one. Resolves with `http://host:port`. */
export async function listenOnLoopback(handle: HttpHandler, port = 0): Promise<string> {
  const server = createServer((request, response) => {
    answer(handle, request, response).catch((error) => {
      process.stderr.write(`${String(error)}\n`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(
  handle: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
  await handle(request, response, body);
}

/** Prints the URL, tells it to the process that forked this one, and ends when that one is gone. */
export function announce(url: string): void {
  process.stdout.write(`${url}\n`);
  process.send?.(url);
  process.once('disconnect', () => process.exit());
}
