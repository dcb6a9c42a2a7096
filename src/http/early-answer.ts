// Answers a request before its body has been read. The whole answer goes out at once, then what is left of the body
// is read and thrown away, bounded: closing at once would reset the connection and take the answer with it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpTiming } from './http-timing.ts';

export interface EarlyAnswer {
  readonly status: number;
  /** Name and value in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface EarlyAnswerOptions {
  readonly timing: Pick<HttpTiming, 'lingerMs' | 'lingerBytes'>;
  /** The answer is the last on its connection. */
  readonly closing: boolean;
}

export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: EarlyAnswer,
  { timing, closing }: EarlyAnswerOptions,
): void {
  if (response.headersSent || response.destroyed) return;
  response.on('error', () => {});
  // A client that was told nothing yet may send its body or not (RFC 9110, section 10.1.1): only closing is safe.
  const awaitsContinue = request.headers.expect !== undefined && !request.complete;
  if (closing || awaitsContinue) response.shouldKeepAlive = false;
  const type = body === '' ? [] : ['Content-Type', 'application/json', 'Cache-Control', 'no-store'];
  const length = status === 204 ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  response.writeHead(status, [...headers, ...type, ...length]);
  if (request.method === 'HEAD' || !hasMoreBody(request) || awaitsContinue) {
    response.end(request.method === 'HEAD' ? '' : body);
    return;
  }
  response.write(body);
  discardBody(request, response, timing);
}

function hasMoreBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
  return !request.complete && (transfer !== undefined || (length !== undefined && length !== '0'));
}

function discardBody(
  request: IncomingMessage,
  response: ServerResponse,
  { lingerMs, lingerBytes }: Pick<HttpTiming, 'lingerMs' | 'lingerBytes'>,
): void {
  let discardedBytes = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, lingerMs);
  response.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > lingerBytes) cut();
  });
  request.once('end', () => response.end());
  request.resume();
}
