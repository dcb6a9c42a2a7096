// The lines of an answer between replicas, each signed together with its place in the answer to this one message. Whoever
// stands in between cannot change one, nor put one in, leave one out, or say one twice.
import { createHmac } from 'node:crypto';
import { isSameMac, type ReplicaKeys } from './replica-keys.ts';

/** HMAC-SHA256 in base64url. */
const MAC_LENGTH = 43;

/** One on each side of an answer. */
export class SignedLines {
  readonly #key: Buffer;
  #count = 0;

  /** @param nonce of the envelope that is answered */
  constructor(key: ReplicaKeys['answer'], nonce: string) {
    this.#key = createHmac('sha256', key).update(nonce).digest();
  }

  /** The next line, its end included. */
  sign(text: string): string {
    return `${this.#nextMac(text)}${text}\n`;
  }

  /** What the next line says; undefined where it is not the one that was signed. */
  open(line: string): string | undefined {
    const text = line.slice(MAC_LENGTH);
    return isSameMac(line.slice(0, MAC_LENGTH), this.#nextMac(text)) ? text : undefined;
  }

  #nextMac(text: string): string {
    const mac = createHmac('sha256', this.#key).update(`${this.#count} `).update(text).digest('base64url');
    this.#count += 1;
    return mac;
  }
}
