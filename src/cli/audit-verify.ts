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
    const key = keyFile === undefined ? undefined : await readKey(keyFile);
    verdict = await verifyAudit({ files, key, expectedHead: head });
  } catch (thrown) {
    const { code, path, message } = thrown as NodeJS.ErrnoException;
    stderr.write(
      `portico: ${code === 'ENOENT' && path !== undefined ? `there is no file ${path}` : message}\n`,
    );
    return 1;
  }
  const { records, fault } = verdict;
  if (fault !== undefined) {
    const place = fault.line === 0 ? fault.file : `${fault.file}:${fault.line}`;
    stdout.write(`${place}: ${fault.problem}\n`);
    return 1;
  }
  const { first, head: last } = verdict;
  stdout.write(
    `${records} records in order, ${first ?? 0} to ${last?.seq ?? 0}, up to ${last?.hash ?? 'nothing'}\n`,
  );
  if (first !== undefined && first > 1) {
    stderr.write(`portico: what came before record ${first} is not among these files\n`);
  }
  if (keyFile === undefined) {
    stderr.write('portico: without --key this shows accidents only: plain hashes can be made anew\n');
  }
  return 0;
}

async function readKey(file: string): Promise<string> {
  const text = await readSmallFile(file).catch((error: Error) => {
    throw new Error(`--key ${file}: ${error.message}`);
  });
  return text.trim();
}
