// The rows, for people and for programs.
import type { Row } from './rounds.ts';

const COLUMNS: readonly [string, (row: Row) => string][] = [
  ['row', ({ name }) => name],
  ['c', ({ concurrency }) => `${concurrency}`],
  ['calls/s', ({ rps }) => rps.toFixed(rps < 100 ? 1 : 0)],
  ['of nginx', ({ ratioToNginx }) => ratioToNginx?.toFixed(2) ?? '-'],
  ['(spread)', ({ ratios }) => ratios?.map((ratio) => ratio.toFixed(2)).join('-') ?? '-'],
  ['CPU us', ({ cpuUsPerRequest }) => cpuUsPerRequest?.toFixed(cpuUsPerRequest < 1_000 ? 1 : 0) ?? '-'],
  ['p50 ms', ({ p50Ms }) => p50Ms.toFixed(2)],
  ['p99 ms', ({ p99Ms }) => p99Ms.toFixed(2)],
  ['half p50', ({ half }) => half?.p50Ms.toFixed(2) ?? '-'],
  ['half p99', ({ half }) => half?.p99Ms.toFixed(2) ?? '-'],
  ['RSS MB', ({ rssMb }) => rssMb?.toFixed(0) ?? '-'],
  ['peak', ({ peakRssMb }) => peakRssMb?.toFixed(0) ?? '-'],
];

export function tableOf(rows: readonly Row[]): string {
  const lines = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `${line.map(padded).join('  ')}\n`).join('');
}

export interface JsonRow {
  readonly name: string;
  readonly concurrency: number;
  readonly rps: number;
  readonly ratioToNginx: number | null;
  readonly p99Ms: number;
  readonly cpuUsPerRequest: number | null;
  readonly rssMb: number | null;
}

export function jsonOf(rows: readonly Row[]): JsonRow[] {
  return rows.map(({ name, concurrency, rps, ratioToNginx, p99Ms, cpuUsPerRequest, rssMb }) => ({
    name,
    concurrency,
    rps: rounded(rps, 1),
    ratioToNginx: ratioToNginx && rounded(ratioToNginx, 3),
    p99Ms: rounded(p99Ms, 2),
    cpuUsPerRequest: cpuUsPerRequest && rounded(cpuUsPerRequest, 1),
    rssMb: rssMb && rounded(rssMb, 1),
  }));
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
