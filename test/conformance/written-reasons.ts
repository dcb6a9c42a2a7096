// Checks that may be lost, each with its reason: the table in README.md, which is for people first.
import { readFileSync } from 'node:fs';

export interface WrittenReason {
  /** `scenario/check-id`, where `*` stands for anything. */
  readonly check: RegExp;
  /** `revision, way`, likewise. */
  readonly where: RegExp;
  readonly reason: string;
}

const ROW = /^\| `(?<check>[^`]+)` \| `(?<where>[^`]+)` \| (?<reason>[^|]+) \|$/gm;

export function readWrittenReasons(file: URL = new URL('README.md', import.meta.url)): WrittenReason[] {
  return [...readFileSync(file, 'utf8').matchAll(ROW)].map(({ groups }) => ({
    check: pattern(groups?.check ?? ''),
    where: pattern(groups?.where ?? ''),
    reason: groups?.reason ?? '',
  }));
}

export function reasonFor(
  reasons: readonly WrittenReason[],
  lost: { check: string; where: string },
): WrittenReason | undefined {
  return reasons.find(({ check, where }) => check.test(lost.check) && where.test(lost.where));
}

function pattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*')}$`);
}
