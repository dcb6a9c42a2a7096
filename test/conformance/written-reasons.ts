// Checks that may be lost, each with its reason: the tables in README.md, which are for people first.
import { readFileSync } from 'node:fs';

export interface WrittenReason {
  /** `scenario/check-id`, where `*` stands for anything. */
  readonly check: string;
  /** `revision, way`, likewise. */
  readonly where: string;
  readonly text: string;
  excuses(check: string, where: string): boolean;
}

// The formatter pads the cells.
const ROW = /^\| `(?<check>[^`]+)` +\| `(?<where>[^`]+)` +\| (?<text>[^|]+?) +\|$/gm;

export function readWrittenReasons(): WrittenReason[] {
  return parseWrittenReasons(readFileSync(new URL('README.md', import.meta.url), 'utf8'));
}

export function parseWrittenReasons(markdown: string): WrittenReason[] {
  return [...markdown.matchAll(ROW)].map(({ groups = {} }) => {
    const { check = '', where = '', text = '' } = groups;
    const checkPattern = pattern(check);
    const wherePattern = pattern(where);
    return {
      check,
      where,
      text,
      excuses: (lost, at) => checkPattern.test(lost) && wherePattern.test(at),
    };
  });
}

function pattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*')}$`);
}
