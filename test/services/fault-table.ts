// The table of what callers notice of a sick Redis, and its place in the operators' page.
import { fileURLToPath } from 'node:url';

export interface FaultRow {
  readonly state: string;
  readonly call: string;
  readonly status: number;
  /** How long the first two took beyond what they take with a healthy Redis. */
  readonly firstMs: readonly number[];
  /** The same of the hundred after them, at the 99th percentile. */
  readonly addedMs: number;
  /** Undefined where it never went away. */
  readonly recoveryMs: number | undefined;
}

export const PAGE = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));

const BEGIN = '<!-- redis-faults: written by test/services/redis-faults.services.ts -->';
const END = '<!-- /redis-faults -->';
const HEADINGS = ['Redis', 'call', 'status', 'added to the first two', 'then, at p99', 'back after'];

export function withTable(page: string, rows: readonly FaultRow[]): string {
  const [before, , after] = split(page);
  return `${before}${BEGIN}\n\n${render(rows)}\n\n${END}${after}`;
}

/** The table in words alone: measurements differ from run to run. */
export function wordsOf(rows: readonly FaultRow[]): string {
  return words(render(rows));
}

export function wordsInPage(page: string): string {
  return words(split(page)[1].trim());
}

function render(rows: readonly FaultRow[]): string {
  const cells = rows.map(({ state, call, status, firstMs, addedMs, recoveryMs }) => [
    state,
    call,
    String(status),
    firstMs.map((ms) => `${Math.round(ms)} ms`).join(', '),
    `${Math.round(addedMs)} ms`,
    recoveryMs === undefined ? 'at once' : `${(recoveryMs / 1000).toFixed(1)} s`,
  ]);
  const lines = [HEADINGS, ...cells];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const drawn = [HEADINGS, widths.map((width) => '-'.repeat(width)), ...cells];
  return drawn
    .map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`)
    .join('\n');
}

function words(table: string): string {
  return table
    .replace(/\d+(\.\d+)? (ms|s)\b/g, '# $2')
    .replace(/ +\|/g, ' |')
    .replace(/-+/g, '-');
}

function split(page: string): [before: string, table: string, after: string] {
  const [before = '', rest = ''] = page.split(BEGIN);
  const [table = '', after = ''] = rest.split(END);
  return [before, table, after];
}
