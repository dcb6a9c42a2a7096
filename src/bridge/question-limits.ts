// How much a server may ask in one call: it must not fill the gateway with what waits for a person.
import { GatewayError } from '../errors.ts';
import { type JsonObject, writeJson } from '../protocol/json-text.ts';

/** At a time. */
export const MAX_QUESTIONS = 100;
const MAX_QUESTION_BYTES = 4 * 1024 * 1024;

/** Whether a call that has these questions open has room for one more of so many bytes. */
export function hasRoomFor(open: Iterable<{ readonly bytes: number }>, bytes: number): boolean {
  let count = 1;
  let sum = bytes;
  for (const question of open) {
    count += 1;
    sum += question.bytes;
  }
  return count <= MAX_QUESTIONS && sum <= MAX_QUESTION_BYTES;
}

export function questionBytes(params: JsonObject | undefined): number {
  return params === undefined ? 0 : Buffer.byteLength(writeJson(params));
}

/** For questions that come together, in one answer of the server. */
export function tooManyQuestions(): GatewayError {
  const text = 'The server asks too many questions at a time';
  return new GatewayError('server-unavailable', { text, reason: 'too-many-questions' });
}
