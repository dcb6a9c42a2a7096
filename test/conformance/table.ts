// The result for people: one row a revision and way, then each lost check with what the suite said.
import type { LostCheck, Score } from './checks.ts';

export interface Row {
  readonly revision: string;
  readonly way: string;
  readonly direct: Score;
  /** Undefined where Portico was left out. */
  readonly through: Score | undefined;
  readonly lost: readonly ReportedLoss[];
}

export interface ReportedLoss extends LostCheck {
  /** Undefined where README.md says nothing of it. */
  readonly reason: string | undefined;
}

const HEADINGS = ['revision', 'server behind Portico', 'direct', 'through', 'lost', 'without a reason'];

export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map(({ revision, way, direct, through, lost }) => {
    const unexplained = lost.filter(({ reason }) => reason === undefined);
    return [
      revision,
      way,
      words(direct),
      words(through),
      String(countOf(lost)),
      String(countOf(unexplained)),
    ];
  });
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...cells];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`)
    .join('\n');
}

export function renderLosses(rows: readonly Row[]): string {
  return rows
    .filter(({ lost }) => lost.length > 0)
    .map(({ revision, way, lost }) => [`Lost at ${revision}, ${way}:`, ...lost.map(renderLoss)].join('\n'))
    .join('\n\n');
}

function renderLoss({ name, times, message, reason }: ReportedLoss): string {
  const head = `  ${name}${times > 1 ? ` (${times} times)` : ''}: ${message ?? 'the check was not made'}`;
  return reason === undefined ? head : `${head}\n    reason: ${reason}`;
}

function words(score: Score | undefined): string {
  return score === undefined ? '' : `${score.passed}/${score.scored}`;
}

function countOf(lost: readonly LostCheck[]): number {
  return lost.reduce((sum, { times }) => sum + times, 0);
}
