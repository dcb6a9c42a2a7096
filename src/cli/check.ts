// `portico check`: every problem of a config, or a short account of what it would serve.

import { urlHost } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { type ConfigProblem, formatProblem } from '../config/config-problem.ts';
import { loadWhole } from './load-whole.ts';

/** A stream, as far as a command needs one. */
export interface Output {
  write(text: string): unknown;
}

export interface CheckOptions {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Resolves with the exit code. Problems are the result, so they go to standard output. */
export async function check({ file, env, stdout, stderr }: CheckOptions): Promise<number> {
  const loaded = await loadWhole(file, { env });
  if (!loaded.ok) {
    stdout.write(problemLines(loaded.problems));
    stderr.write(`${file}: ${count(loaded.problems.length, 'problem')}\n`);
    return 1;
  }
  stdout.write(summary(file, loaded.config));
  if (loaded.warnings.length > 0) {
    stdout.write(`\n${count(loaded.warnings.length, 'warning')}\n${problemLines(loaded.warnings)}`);
  }
  return 0;
}

export function problemLines(problems: readonly ConfigProblem[]): string {
  return problems.map((problem) => `${formatProblem(problem)}\n`).join('');
}

function summary(file: string, { gateway, servers }: Config): string {
  const { listen, admin, publicUrl } = gateway;
  const rows = [
    ['public', `${publicUrl}/mcp`, `on ${urlHost(listen.host)}:${listen.port}`],
    ['admin', ...(admin === undefined ? ['off'] : [`http://${urlHost(admin.host)}:${admin.port}`])],
    ...servers.map((server) => ['server', `${publicUrl}/mcp/${server.slug}`, server.type]),
  ];
  const width = Math.max(...rows.map((row) => row[1]?.length ?? 0));
  const lines = rows.map(
    ([kind = '', what = '', more = '']) =>
      `  ${kind.padEnd(8)}${more === '' ? what : `${what.padEnd(width)}  ${more}`}\n`,
  );
  return `${file} is valid\n${lines.join('')}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
