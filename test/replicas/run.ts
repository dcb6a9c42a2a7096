// `npm run test:replicas`: the tests that start a gateway, with replicas behind a round-robin balancer in its place and
// one real Redis. Ends with 1 where one fails. Arguments: --count=3 for three of them, --excluded for the tests of
// exclusions.ts alone (those that pass need no reason any more), other words choose files by their paths.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { limitTo } from '../conformance/limit.ts';
import { startRedis } from '../support/redis.ts';
import { balancedFiles } from './balanced-files.ts';
import { EXCLUSIONS } from './exclusions.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TEST_TIMEOUT_MS = 120_000;
const FILE_TIMEOUT_MS = 600_000;
const SUMMARY = /^ℹ (?<what>tests|pass|fail|cancelled) (?<count>\d+)$/gm;

interface FileRun {
  readonly file: string;
  readonly tests: number;
  readonly failed: boolean;
  readonly output: string;
}

const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const count = options.find((option) => option.startsWith('--count='))?.slice('--count='.length) ?? '2';
const excludedAlone = options.includes('--excluded');

const chosen = balancedFiles().filter(
  (file) =>
    (words.length === 0 || words.some((word) => file.includes(word))) &&
    (excludedAlone ? isExcluded(file) : !isLeftOut(file)),
);
const startedAt = performance.now();
await using redis = await startRedis();
const limit = limitTo(2);
const runs = await Promise.all(chosen.map((file) => limit(() => run(file, redis.url))));

const failed = runs.filter(({ failed }) => failed);
const tests = runs.reduce((sum, run) => sum + run.tests, 0);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
print(
  `${tests} tests of ${runs.length} files with ${count} replicas in ${seconds} s; failed: ${failed.length} files`,
);
for (const { file } of failed) print(`  ${file}`);
process.exitCode = failed.length > 0 || runs.length === 0 ? 1 : 0;

async function run(file: string, redisUrl: string): Promise<FileRun> {
  const child = spawn(
    process.execPath,
    ['--test', `--test-timeout=${TEST_TIMEOUT_MS}`, '--test-reporter=spec', ...patterns(file), file],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PORTICO_TEST_REPLICAS: count, PORTICO_TEST_REDIS_URL: redisUrl },
    },
  );
  const late = setTimeout(() => child.kill('SIGKILL'), FILE_TIMEOUT_MS);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  await once(child, 'close');
  clearTimeout(late);
  const counted = new Map([...output.matchAll(SUMMARY)].map(({ groups }) => [groups?.what, groups?.count]));
  const failed = child.exitCode !== 0;
  const tests = Number(counted.get('tests') ?? 0);
  print(`${failed ? '✖' : '✔'} ${file}: ${tests} tests`);
  // The last part repeats the failed ones, each with its error.
  if (failed) print(output.slice(Math.max(0, output.lastIndexOf('failing tests:'))));
  return { file, tests, failed, output };
}

/** Those of the names of tests that Node's runner is to leave out, or to run alone. */
function patterns(file: string): string[] {
  const names = EXCLUSIONS.filter((exclusion) => exclusion.file === file).flatMap(({ tests }) => tests ?? []);
  const option = excludedAlone ? 'test-name-pattern' : 'test-skip-pattern';
  return names.map((name) => `--${option}=${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`);
}

function isLeftOut(file: string): boolean {
  return EXCLUSIONS.some((exclusion) => exclusion.file === file && exclusion.tests === undefined);
}

function isExcluded(file: string): boolean {
  return EXCLUSIONS.some((exclusion) => exclusion.file === file);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
