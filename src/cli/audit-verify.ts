// `portico audit verify`: whether nothing in audit files was changed, removed or cut off.
import { readSmallFile } from '../config/small-file.ts';
import { type AuditVerdict, verifyAudit } from '../telemetry/audit/verify-audit.ts';
import type { Output } from './check.ts';

export interface AuditVerifyOptions {
  /** The oldest first. */
  readonly files: readonly string[];
  readonly head: string | undefined;
  readonly keyFile: string | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Resolves with the exit code. */
export async function auditVerify(options: AuditVerifyOptions): Promise<number> {
  const { files, head, keyFile, stdout, stderr } = options;
  let verdict: AuditVerdict;
  try {
    const key = keyFile === undefined ? undefined : (await readSmallFile(keyFile)).trim();
    verdict = await verifyAudit({ files, key, expectedHead: head });
  } catch (thrown) {
    stderr.write(`portico: ${(thrown as Error).message}\n`);
    return 1;
  }
  const { records, fault } = verdict;
  if (fault !== undefined) {
    const place = fault.line === 0 ? fault.file : `${fault.file}:${fault.line}`;
    stdout.write(`${place}: ${fault.problem}\n`);
    return 1;
  }
  stdout.write(`${records} records in order, up to ${verdict.head?.hash ?? 'nothing'}\n`);
  if (keyFile === undefined) {
    stderr.write('portico: without --key this shows accidents only: plain hashes can be made anew\n');
  }
  return 0;
}
