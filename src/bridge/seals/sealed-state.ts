// Seals what a server hands out to be brought back: request state, cursors, task ids. Behind one shared credential a
// server takes Portico for its only caller, so its own binding to a user is void; the seal binds the value to the
// principal, server and purpose again (2026-07-28, basic/patterns/mrtr, "Server Requirements").
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export interface SealContext {
  readonly purpose: 'requestState' | 'cursor' | 'task' | 'session' | 'credential';
  /** principalKey of the only caller who may bring it back. */
  readonly principal: string;
  readonly server: string;
  /** What else must be the same: the method, the target, a link's generation. */
  readonly scope: string;
}

const CIPHER = 'aes-256-gcm';
const DAY_MS = 24 * 3600_000;
/** Another replica's day may begin this much sooner. */
const CLOCK_TOLERANCE_MS = 60_000;
const DAY_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = DAY_BYTES + IV_BYTES + TAG_BYTES;

/** AES-256-GCM under a key per day, derived by HKDF-SHA256; today's seals and yesterday's open. */
export class SealedState {
  readonly #root: Buffer;
  readonly #now: () => number;
  readonly #keys = new Map<number, Buffer>();

  /** @param root at least 32 random bytes, the same on every replica; @param now milliseconds since 1970 */
  constructor(root: Buffer = randomBytes(32), now: () => number = Date.now) {
    this.#root = root;
    this.#now = now;
  }

  /** Returns base64url text. */
  seal(value: string, context: SealContext): string {
    const day = this.#today();
    const key = this.#keyOf(day);
    const aad = associatedData(context);
    // Clients compare task ids, so one task has one sealed id; its nonce is a keyed hash of all that goes in.
    const iv =
      context.purpose === 'task'
        ? createHmac('sha256', key).update(aad).update(value).digest().subarray(0, IV_BYTES)
        : randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv);
    cipher.setAAD(aad);
    const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    const head = Buffer.alloc(DAY_BYTES);
    head.writeUInt32BE(day);
    return Buffer.concat([head, iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** The value, or undefined for anything foreign, tampered with or too old; nothing says which. */
  open(text: string, context: SealContext): string | undefined {
    const bytes = Buffer.from(text, 'base64url');
    // One value has one text: the decoder passes over much that is no base64url.
    if (bytes.length < HEAD_BYTES || bytes.toString('base64url') !== text) return undefined;
    const day = bytes.readUInt32BE(0);
    const today = this.#today();
    if (day !== today && day !== today - 1 && day !== this.#dayAt(this.#now() + CLOCK_TOLERANCE_MS))
      return undefined;
    const iv = bytes.subarray(DAY_BYTES, DAY_BYTES + IV_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(day), iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(context));
    decipher.setAuthTag(bytes.subarray(DAY_BYTES + IV_BYTES, HEAD_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }

  #today(): number {
    return this.#dayAt(this.#now());
  }

  #dayAt(time: number): number {
    return Math.floor(time / DAY_MS);
  }

  #keyOf(day: number): Buffer {
    let key = this.#keys.get(day);
    if (key === undefined) {
      key = Buffer.from(hkdfSync('sha256', this.#root, '', `portico sealed state ${day}`, 32));
      this.#keys.set(day, key);
      this.#keys.delete(day - 2);
    }
    return key;
  }
}

function associatedData({ purpose, principal, server, scope }: SealContext): Buffer {
  return Buffer.from(JSON.stringify([purpose, principal, server, scope]));
}
