// Tables of what callers notice of a sick Redis, and their places in the operators' page.
import { fileURLToPath } from 'node:url';

export interface FaultRow {
  readonly state: string;
  readonly call: string;
  /** Of all calls of the row; more than one where it changes meanwhile. */
  readonly statuses: readonly number[];
  /** How long the first two took beyond what they take with a healthy Redis. */
  readonly firstMs: readonly number[];
  /** The same of the hundred after them, at the 99th percentile. */
  readonly addedMs: number;
  /** Undefined where it never went away. */
  readonly recoveryMs: number | undefined;
}

export const PAGE = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));

const HEADINGS = ['Redis', 'call', 'status', 'added to the first two', 'then, at p99', 'back after'];

/** @param name of the table, and of the file of its tests */
export function withTable(page: string, name: string, rows: readonly FaultRow[]): string {
  const [before, , after] = split(page, name);
  return `${before}\n\n${render(rows)}\n\n${after}`;
}

/** The table in words alone: measurements differ from run to run. */
export function wordsOf(rows: readonly FaultRow[]): string {
  return words(render(rows));
}

export function wordsInPage(page: string, name: string): string {
  return words(split(page, name)[1].trim());
}

function render(rows: readonly FaultRow[]): string {
  const cells = rows.map(({ state, call, statuses, firstMs, addedMs, recoveryMs }) => [
    state,
    call,
    statuses.join(', '),
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

/** With its marks, what stands before the table and after it. */
function split(page: string, name: string): [before: string, table: string, after: string] {
  const begin = `<!-- ${name}: written by test/services/${name}.services.ts -->`;
  const end = `<!-- /${name} -->`;
  const [before = '', rest = ''] = page.split(begin);
  const [table = '', after = ''] = rest.split(end);
  return [before + begin, table, end + after];
}
