// A session as Redis keeps it: its owner, a MAC, and JSON. Whoever can write to Redis can neither make a session nor
// change one, nor put one in the place of another; to put an older text of one back is all that is left to them.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readJson, writeJson } from '../protocol/json-text.ts';
import type { StoredSession } from './session-store.ts';

/** The stamp is the MAC: another one whenever anything has changed. */
export interface WrittenSession extends StoredSession {
  /** By `Date.now()` of the replica that made it. */
  readonly createdAt: number;
}

type Content = Pick<WrittenSession, 'key' | 'owner' | 'record' | 'state' | 'createdAt'>;

const TEXT = /^(\S*) (\S{43}) (.+)$/s;

export class SessionTexts {
  readonly #macKey: Buffer;

  /** @param macKey the same on every replica */
  constructor(macKey: Buffer) {
    this.#macKey = macKey;
  }

  write({ key, owner = '', record, state, createdAt }: Content): string {
    const json = writeJson({ createdAt, record, state });
    return `${owner} ${this.#mac(key, owner, json)} ${json}`;
  }

  /** Undefined for what no replica has written under that key. */
  read(key: string, text: string): WrittenSession | undefined {
    const [, owner = '', stamp = '', json = ''] = TEXT.exec(text) ?? [];
    if (!isSame(stamp, this.#mac(key, owner, json))) return undefined;
    const { createdAt, record, state } = readJson(json) as Pick<Content, 'createdAt' | 'record' | 'state'>;
    return { key, owner: owner === '' ? undefined : owner, stamp, createdAt, record, state };
  }

  #mac(key: string, owner: string, json: string): string {
    // Neither a key nor an owner has a space.
    return createHmac('sha256', this.#macKey).update(`${key} ${owner} ${json}`).digest('base64url');
  }
}

function isSame(text: string, expected: string): boolean {
  const [one, other] = [Buffer.from(text), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
