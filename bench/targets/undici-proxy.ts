// The least that a proxy in Node.js can do: bytes in, bytes out, nothing read, nothing checked, nothing written down.
// Shows what of a gateway's cost is the platform's. Argument: the server's port. Prints its own.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 16, pipelining: 1 });

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => forward(request, response, Buffer.concat(chunks)));
}).listen(0, '127.0.0.1', function (this: ReturnType<typeof createServer>) {
  const address = this.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
  const options = {
    path: request.url ?? '/',
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body,
  };
  const small: Buffer[] = [];
  let streams = false;
  pool.dispatch(options, {
    onRequestStart() {},
    onResponseStart(controller, statusCode, answered) {
      response.statusCode = statusCode;
      const { 'content-type': type = 'application/json', 'content-length': length } = answered;
      response.setHeader('Content-Type', type);
      streams = length === undefined || Number(length) > 16_384;
      if (length !== undefined) response.setHeader('Content-Length', length);
      response.on('drain', () => controller.resume());
      response.on('close', () => controller.resume());
    },
    onResponseData(controller, chunk) {
      if (!streams) small.push(chunk);
      else if (!response.write(chunk) && !response.destroyed) controller.pause();
    },
    onResponseEnd: () => void response.end(small.length === 1 ? small[0] : Buffer.concat(small)),
    onResponseError: () => void response.destroy(),
  });
}
