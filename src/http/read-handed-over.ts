// Reads what another replica hands over: a signed line, then the message. Whoever has not signed the line has nothing
// more read, so that only its first bytes ever take room.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toGatewayError } from '../errors.ts';
import {
  type EnvelopeFault,
  isDigestOf,
  MAX_ENVELOPE_BYTES,
  type OpenEnvelopeOptions,
  openEnvelope,
  SIGNATURE_HEADER,
} from '../replicas/envelope.ts';
import { EXCHANGE_PATH } from '../replicas/replica-client.ts';
import type { ForwardedExchange } from '../replicas/replicas.ts';
import type { BufferHold } from '../state/buffer-budget.ts';
import { readBody } from './read-body.ts';

/** Why a request was not taken: a closed set, for metrics. request: it is none of a replica at all. */
export type HandOverFault = EnvelopeFault | 'request' | 'size' | 'capacity' | 'draining';

export interface HandedOver {
  readonly from: string;
  readonly nonce: string;
  readonly exchange: ForwardedExchange;
}

export interface ReadHandedOverOptions extends OpenEnvelopeOptions {
  readonly maxBodyBytes: number;
  /** Grows with what has been read; the caller gives it back. */
  readonly hold: BufferHold;
  /** Counts the line as well, until its signature is verified. */
  readonly lineHold: BufferHold;
}

const LF = 0x0a;

export async function readHandedOver(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReadHandedOverOptions,
): Promise<HandedOver | HandOverFault> {
  const { maxBodyBytes, hold, lineHold } = options;
  const { method, url, headers } = request;
  const signature = headers[SIGNATURE_HEADER];
  const isOne = method === 'POST' && url === EXCHANGE_PATH && headers.expect === undefined;
  if (!isOne || signature === undefined) return 'request';
  const line = await readLine(request, (bytes) => lineHold.resize(bytes) && hold.resize(bytes));
  if (typeof line === 'string') return line;
  const opened = openEnvelope(line, signature, options);
  lineHold.resize(0);
  if (typeof opened === 'string') return opened;
  let body: Buffer;
  try {
    const reading = readBody(request, response, { maxBytes: maxBodyBytes, hold });
    request.resume();
    body = await reading;
  } catch (thrown) {
    return FAULT_OF[toGatewayError(thrown).code] ?? 'request';
  }
  if (!isDigestOf(opened.digest, body)) return 'digest';
  return { from: opened.from, nonce: opened.nonce, exchange: { ...opened.exchange, body } };
}

const FAULT_OF: Readonly<Record<string, HandOverFault>> = {
  'body-too-large': 'size',
  'no-capacity': 'capacity',
};

/** Leaves what stands behind the line end to the next reader. @param fits says whether there is room for as many bytes */
function readLine(
  request: IncomingMessage,
  fits: (bytes: number) => boolean,
): Promise<Buffer | HandOverFault> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const onData = (chunk: Buffer) => {
      const end = chunk.indexOf(LF);
      const kept = end === -1 ? chunk : chunk.subarray(0, end);
      size += kept.length;
      if (size > MAX_ENVELOPE_BYTES) return settle('size');
      if (!fits(size)) return settle('capacity');
      chunks.push(kept);
      if (end !== -1) settle(Buffer.concat(chunks), chunk.subarray(end + 1));
    };
    const onGone = () => settle('request');

    function settle(outcome: Buffer | HandOverFault, rest?: Buffer): void {
      request.off('data', onData).off('end', onGone).off('close', onGone).off('error', onGone);
      // Paused rather than flowing into nothing: who comes next reads on.
      request.pause();
      if (rest !== undefined && rest.length > 0) request.unshift(rest);
      resolve(outcome);
    }

    request.on('data', onData).on('end', onGone).on('close', onGone).on('error', onGone);
  });
}
