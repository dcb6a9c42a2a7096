// The chain that audit records hang in: each carries the hash of the one before and its own, keyed where there is a
// key, so that a changed, removed or inserted record shows. Pure: texts in, texts and findings out.
import type { TextDigest } from './text-digest.ts';

/** Before the first record of all. */
export const CHAIN_START = '0'.repeat(43);

const HASH = /,"hash":"([\w-]{43})"\}$/;
const PREVIOUS = /^\{"seq":(\d+),"prev":"([\w-]{43})"/;

/** Where a chain stands: the number and the hash of its last record. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainLink {
  /** One line, without its line feed. */
  readonly line: string;
  readonly head: ChainHead;
}

/**
 * The record as a line of the chain: `{"seq":...,"prev":"...",<its members>,"hash":"..."}`.
 *
 * @param record the text of a JSON object that has members
 * @param digest makes the hashes; without a key anyone can make them anew
 */
export function addToChain(head: ChainHead, record: string, digest: TextDigest): ChainLink {
  const seq = head.seq + 1;
  const body = `{"seq":${seq},"prev":"${head.hash}",${record.slice(1)}`;
  const hash = hashOf(body, digest);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, head: { seq, hash } };
}

/** Where the chain goes on behind this line; undefined where it is none of a chain. */
export function headOf(line: string): ChainHead | undefined {
  const hash = HASH.exec(line)?.[1];
  const seq = PREVIOUS.exec(line)?.[1];
  return hash === undefined || seq === undefined ? undefined : { seq: Number(seq), hash };
}

/** What is wrong with a line that should follow `before`; undefined where nothing is. */
export function chainFault(
  line: string,
  before: ChainHead | undefined,
  digest: TextDigest,
): string | undefined {
  const [, seq = '', prev = ''] = PREVIOUS.exec(line) ?? [];
  const hash = HASH.exec(line)?.[1];
  if (prev === '' || hash === undefined) return 'this is no record of a chain';
  const body = `${line.slice(0, line.lastIndexOf(',"hash":"'))}}`;
  if (hashOf(body, digest) !== hash) {
    return 'this record has been changed, or was written with another key';
  }
  if (before === undefined) return undefined;
  if (Number(seq) !== before.seq + 1) {
    return `record ${before.seq + 1} is missing: this one is ${seq}`;
  }
  return prev === before.hash ? undefined : 'this record does not follow the one before it';
}

function hashOf(text: string, digest: TextDigest): string {
  return digest.of(text, 'base64url');
}
