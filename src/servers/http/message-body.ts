// A message as the bytes of a POST.
import { GatewayError } from '../../errors.ts';
import { writeJson } from '../../protocol/json-text.ts';

/** @throws GatewayError params-invalid: JSON.stringify follows nested values by recursion, so it has an end */
export function messageBody(message: object): Buffer {
  try {
    return Buffer.from(writeJson(message));
  } catch (cause) {
    throw new GatewayError('params-invalid', { text: 'The message is nested too deeply', cause });
  }
}
