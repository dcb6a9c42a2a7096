// `portico doctor`: the config is checked, then everything that it names is really reached, by the parts that serving
// would use. A table says what was found, and what to do about what is wrong.
import { Editions } from '../lifecycle/editions.ts';
import { createLastingParts } from '../lifecycle/lasting-parts.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createRedact } from '../telemetry/redaction.ts';
import { type Output, problemLines } from './check.ts';
import type { Check, Finding, Surroundings } from './checks/check-parts.ts';
import { issuerChecks } from './checks/issuer-checks.ts';
import { redisChecks } from './checks/redis-check.ts';
import { serverChecks } from './checks/server-checks.ts';
import { loadWhole } from './load-whole.ts';
import { readVersion } from './version.ts';

export interface DoctorOptions {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** One list a kind of thing; a new kind is one more. */
const CHECKS: readonly ((surroundings: Surroundings) => readonly Check[])[] = [
  issuerChecks,
  redisChecks,
  serverChecks,
];

/** Resolves with the exit code, once all that was started has ended. */
export async function doctor({ file, env, stdout, stderr }: DoctorOptions): Promise<number> {
  const loaded = await loadWhole(file, { env });
  if (!loaded.ok) {
    stdout.write(problemLines(loaded.problems));
    return 1;
  }
  stderr.write(problemLines(loaded.warnings));
  const { config } = loaded;
  const lasting = createLastingParts({
    config,
    version: await readVersion(),
    // What is found is told once, in the table.
    logger: createLogger({ level: 'silent', secrets: config.secrets }),
    questionPatienceMs: 0,
    budget: undefined,
  });
  const editions = new Editions(config, lasting);
  try {
    const surroundings = { config, edition: editions.current, lasting };
    const checks = CHECKS.flatMap((listed) => listed(surroundings));
    const findings = await Promise.all(checks.map((check) => check.run()));
    const rows = checks.map((check, index) => ({ check, finding: findings[index] as Finding }));
    stdout.write(createRedact(config.secrets)(tableOf(file, rows)));
    return findings.some(({ verdict }) => verdict === 'FAILED') ? 1 : 0;
  } finally {
    await editions.close();
    await lasting.sessions.close();
    await lasting.store.close();
    await lasting.guardian.close();
  }
}

interface Row {
  readonly check: Check;
  readonly finding: Finding;
}

function tableOf(file: string, rows: readonly Row[]): string {
  const width = Math.max(0, ...rows.map(({ check }) => check.subject.length));
  const lines = rows.map(({ check: { kind, subject }, finding }) => {
    const line = `  ${kind.padEnd(8)}${subject.padEnd(width)}  ${finding.verdict.padEnd(9)}  ${oneLine(finding.text)}\n`;
    return finding.verdict === 'FAILED' ? `${line}${' '.repeat(10)}${finding.advice}\n` : line;
  });
  const wrong = rows.filter(({ finding }) => finding.verdict === 'FAILED').length;
  const verdict = wrong === 0 ? 'all is well' : `${wrong} of ${rows.length} cannot be reached`;
  return `${file} is valid; ${verdict}\n${lines.join('')}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}
