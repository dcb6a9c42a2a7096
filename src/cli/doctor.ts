// `portico doctor`: the config is checked, then everything that it names is really reached, by the parts that serving
// would use. Each is told as soon as it is known, with what to do about what is wrong.
import { Editions } from '../lifecycle/editions.ts';
import { createLastingParts } from '../lifecycle/lasting-parts.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createRedact } from '../telemetry/redaction.ts';
import { type Output, problemLines } from './check.ts';
import type { Check, Finding, Surroundings } from './checks/check-parts.ts';
import { issuerChecks } from './checks/issuer-checks.ts';
import { LastWords } from './checks/last-words.ts';
import { redisChecks } from './checks/redis-check.ts';
import { replicaChecks } from './checks/replica-checks.ts';
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
  replicaChecks,
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
  const lastWords = new LastWords();
  const lasting = createLastingParts({
    config,
    version: await readVersion(),
    // What is found is told once, in the table; of the log only what children say last is of use there.
    logger: createLogger({ level: 'debug', secrets: config.secrets, destination: lastWords }),
    questionPatienceMs: 0,
    budget: undefined,
  });
  const editions = new Editions(config, lasting);
  try {
    const surroundings = { config, edition: editions.current, lasting, lastWords };
    const checks = CHECKS.flatMap((listed) => listed(surroundings));
    const width = Math.max(0, ...checks.map(({ subject }) => subject.length));
    const redact = createRedact(config.secrets);
    stdout.write(`${file} is valid; ${checks.length} to reach\n`);
    const verdicts = await Promise.all(
      checks.map(async (check) => {
        const finding = await check.run();
        stdout.write(redact(rowOf(check, finding, width)));
        return finding.verdict;
      }),
    );
    const wrong = verdicts.filter((verdict) => verdict === 'FAILED').length;
    stdout.write(wrong === 0 ? 'all is well\n' : `${wrong} of ${checks.length} cannot be reached\n`);
    return wrong === 0 ? 0 : 1;
  } finally {
    await editions.close();
    await lasting.sessions.close();
    await lasting.store.close();
    await lasting.guardian.close();
  }
}

const INDENT = ' '.repeat(10);

function rowOf({ kind, subject }: Check, finding: Finding, width: number): string {
  const row = `  ${kind.padEnd(8)}${subject.padEnd(width)}  ${finding.verdict.padEnd(9)}  ${oneLine(finding.text)}\n`;
  if (finding.verdict !== 'FAILED') return row;
  const { advice, lastWords = [] } = finding;
  const said = lastWords.map((line) => `${INDENT}stderr: ${oneLine(line)}\n`);
  return `${row}${INDENT}${advice}\n${said.join('')}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}
