// Answers bytes that are no HTTP request, or not one within our limits. Node has parsed nothing here, so this writes
// to the socket itself.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type FailureCode, GatewayError } from '../errors.ts';
import { errorResponse } from './error-response.ts';

const FAILURE_OF: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

const FLUSH_MS = 1_000;

/** For a server's `clientError` event. @returns what the client was told, if it could be told anything */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): FailureCode | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (isAnswering(socket)) {
    // More bytes would become part of that answer; what is written of it may still go out.
    socket.end(() => socket.destroy());
    setTimeout(() => socket.destroy(), FLUSH_MS).unref();
    return undefined;
  }
  const code = FAILURE_OF[error.code ?? ''] ?? 'request-malformed';
  const { status, body } = errorResponse(new GatewayError(code), {
    era: 'legacy',
    idText: undefined,
    incidentId: '',
  });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      'Connection: close\r\n\r\n' +
      body,
    () => socket.destroy(),
  );
  return code;
}

/** Node hangs the response being written on the socket, under a name that its own handler reads too. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { _httpMessage?: { headersSent: boolean } };
  return message?.headersSent ?? false;
}
