// Reads one request body as bytes, within a limit and within the budget of all bodies. Nothing is parsed here.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';
import type { BufferHold } from '../state/buffer-budget.ts';

const JSON_TYPE = /^application\/json[ \t]*(?:;(.*))?$/i;
const CHARSET = /(?:^|;)[ \t]*charset[ \t]*=[ \t]*"?([^";]*)"?/i;

export const NO_BODY = Buffer.alloc(0);

/** What {@link readBody} would not read, told from the headers alone; undefined: it may be read. */
export function bodyProblem(headers: IncomingHttpHeaders, maxBytes: number): GatewayError | undefined {
  const [isJson, parameters = ''] = JSON_TYPE.exec(headers['content-type'] ?? '') ?? [];
  if (isJson === undefined) return new GatewayError('media-type', { reason: 'content_type' });
  const charset = CHARSET.exec(parameters)?.[1]?.trim().toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') {
    return new GatewayError('media-type', { text: 'The body must be UTF-8', reason: 'charset' });
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    // A small compressed body may expand without end; no MCP client sends one.
    return new GatewayError('media-type', {
      text: 'A compressed body is not accepted; send it without Content-Encoding',
      reason: 'content_encoding',
    });
  }
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (transfer !== 'chunked') return new GatewayError('request-malformed', { reason: 'transfer_encoding' });
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

export interface ReadBodyOptions {
  readonly maxBytes: number;
  /** Grows with what has been read; the caller gives it back. */
  readonly hold: BufferHold;
}

/**
 * The body of a request that is here as a whole, as a small one is by the end of the turn that brought its head; undefined
 * where it has to be waited for. It spares a call the listeners and the promise of {@link readBody}: 1 us of CPU.
 *
 * @throws GatewayError body-too-large, no-capacity
 */
export function takeBody(request: IncomingMessage, { maxBytes, hold }: ReadBodyOptions): Buffer | undefined {
  const { complete, destroyed, headers, readableLength } = request;
  if (!complete || destroyed || headers.expect !== undefined) return undefined;
  if (readableLength > maxBytes) throw tooLarge(maxBytes);
  if (!hold.resize(readableLength)) throw buffersFull();
  return (request.read() as Buffer | null) ?? NO_BODY;
}

/** @throws GatewayError body-too-large, no-capacity, or request-malformed when the client left midway */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, hold }: ReadBodyOptions,
): Promise<Buffer> {
  if (request.headers.expect?.toLowerCase() === '100-continue') {
    response.writeContinue();
    // Met; whoever answers need not wonder whether the body will come.
    delete request.headers.expect;
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let settled = false;

    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return settle(tooLarge(maxBytes));
      if (!hold.resize(size)) return settle(buffersFull());
      chunks.push(chunk);
    };
    const onEnd = () => settle(undefined);
    const onGone = () => {
      // Every request closes some time, and an error that nobody is told costs as much as a read.
      if (!settled) settle(new GatewayError('request-malformed', { reason: 'client_left' }));
    };

    function settle(problem: GatewayError | undefined): void {
      if (settled) return;
      settled = true;
      if (problem !== undefined) {
        request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
        // Paused rather than flowing into nothing: who answers decides how much of the rest is read.
        request.pause();
        reject(problem);
        return;
      }
      const [only = NO_BODY] = chunks;
      resolve(chunks.length < 2 ? only : Buffer.concat(chunks, size));
    }

    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
    if (request.destroyed) onGone();
  });
}

function buffersFull(): GatewayError {
  return new GatewayError('no-capacity', { reason: 'buffers_full' });
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('body-too-large', { data: { maxBytes } });
}
