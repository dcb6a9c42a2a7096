// Holds audit files, the oldest first, against the chain that their records say they hang in.
import { createReadStream } from 'node:fs';
import { type ChainHead, chainFault, headOf } from './audit-chain.ts';
import { createTextDigest } from './text-digest.ts';

export interface AuditVerdict {
  /** Records that were read and are in order. */
  readonly records: number;
  /** The number of the first one; files that came before it may have been deleted, or it may not be the first. */
  readonly first: number | undefined;
  /** Where the chain stands at the end; undefined where there is no record. */
  readonly head: ChainHead | undefined;
  /** The first thing that is wrong. */
  readonly fault: AuditFault | undefined;
}

export interface AuditFault {
  readonly file: string;
  /** 1-based; 0 where no line is at fault, but what is missing behind the last. */
  readonly line: number;
  readonly problem: string;
}

export interface VerifyAuditOptions {
  readonly files: readonly string[];
  readonly key: string | undefined;
  /** A hash that the chain must have passed through, from the log: without its record, the tail was cut. */
  readonly expectedHead: string | undefined;
}

/** @throws Error where a file cannot be read */
export async function verifyAudit({ files, key, expectedHead }: VerifyAuditOptions): Promise<AuditVerdict> {
  const digest = createTextDigest(key);
  let head: ChainHead | undefined;
  let records = 0;
  let first: number | undefined;
  let passedExpected = false;
  for (const file of files) {
    let number = 0;
    for await (const line of linesOf(file)) {
      number += 1;
      const problem = chainFault(line, head, digest);
      if (problem !== undefined) return { records, first, head, fault: { file, line: number, problem } };
      head = headOf(line);
      first ??= head?.seq;
      passedExpected ||= head?.hash === expectedHead;
      records += 1;
    }
  }
  if (expectedHead === undefined || passedExpected) return { records, first, head, fault: undefined };
  const problem = 'no record has the hash given as --head: what followed the last record has been cut off';
  return { records, first, head, fault: { file: files.at(-1) ?? '', line: 0, problem } };
}

/** At line feeds alone: whatever else is taken for the end of a line elsewhere may stand in a record. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
