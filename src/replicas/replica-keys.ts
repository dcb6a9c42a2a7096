// Keys of what replicas say to each other and share. None is the configured secret itself: each use has its own,
// derived by HKDF-SHA256 (RFC 5869), so that what is made for one use is worth nothing in another.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export interface ReplicaKeys {
  /** Root of `SealedState`. */
  readonly seal: Buffer;
  /** Signs what is handed over. */
  readonly envelope: Buffer;
  /** Proves that whoever answers knows the secret. */
  readonly answer: Buffer;
  /** Of session records in Redis. */
  readonly record: Buffer;
  readonly event: Buffer;
  readonly announcement: Buffer;
}

const KEY_BYTES = 32;

/** @param secret `gateway.replica.secret`, 32 characters or more */
export function replicaKeys(secret: string): ReplicaKeys {
  const keyFor = (use: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `portico replicas: ${use}`, KEY_BYTES));
  return {
    seal: keyFor('seal'),
    envelope: keyFor('envelope'),
    answer: keyFor('answer'),
    record: keyFor('record'),
    event: keyFor('event'),
    announcement: keyFor('announcement'),
  };
}

/** HMAC-SHA256, base64url: 43 characters. */
export function macOf(key: Buffer, text: string | Buffer): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** In constant time; false for whatever is no MAC at all. */
export function isMacOf(key: Buffer, text: string | Buffer, mac: unknown): boolean {
  return typeof mac === 'string' && isSameMac(mac, macOf(key, text));
}

export function isSameMac(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
