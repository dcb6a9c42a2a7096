// SHA-256 of texts, keyed where there is a key. HMAC (RFC 2104) is two hashes of pads made once, each in one shot: a
// Hmac object costs three times what all of that does, and two are needed for each call (bench: small).
import { createHmac, hash } from 'node:crypto';

/** SHA-256 hashes blocks of 64 bytes, and gives 32. */
const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** As much as a text of the usual length takes; longer ones are for Node's own HMAC. */
const MAX_TEXT_BYTES = 8_192;
const MAX_UTF8_BYTES_PER_CHARACTER = 3;

export interface TextDigest {
  readonly algorithm: 'sha256' | 'hmac-sha256';
  /** Of the text as UTF-8. */
  of(text: string, encoding: 'hex' | 'base64url'): string;
}

export function createTextDigest(key: string | undefined): TextDigest {
  if (key === undefined)
    return { algorithm: 'sha256', of: (text, encoding) => hash('sha256', text, encoding) };
  return { algorithm: 'hmac-sha256', of: keyedHash(key) };
}

function keyedHash(key: string): TextDigest['of'] {
  const inner = Buffer.alloc(BLOCK_BYTES + MAX_TEXT_BYTES);
  const outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES);
  inner.set(padOf(key, INNER_PAD));
  outer.set(padOf(key, OUTER_PAD));
  return (text, encoding) => {
    if (text.length * MAX_UTF8_BYTES_PER_CHARACTER > MAX_TEXT_BYTES) {
      return createHmac('sha256', key).update(text).digest(encoding);
    }
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES, 'utf8');
    // A text of bytes is made in a fraction of the time of a buffer.
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer, encoding);
  };
}

function padOf(key: string, pad: number): Uint8Array {
  const bytes = Buffer.from(key);
  const block = Buffer.alloc(BLOCK_BYTES);
  block.set(bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes);
  return block.map((byte) => byte ^ pad);
}
