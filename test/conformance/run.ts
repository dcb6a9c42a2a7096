// `npm run conformance`: the official suite against the everything-server, direct and through Portico, compared
// check by check. Ends with 1 where a check is lost that README.md gives no reason for.
// Arguments: --direct leaves Portico out; words choose rows by their text, as in `2026-07-28 stdio`.

import { lostChecks, type SuiteRun, tally } from './checks.ts';
import { type Limit, limitTo } from './limit.ts';
import { REVISIONS, type Revision } from './revisions.ts';
import { runSuite } from './suite.ts';
import { type Row, renderLosses, renderTable } from './table.ts';
import { directly, throughPortico, WAYS, type Way } from './ways.ts';
import { readWrittenReasons, reasonFor } from './written-reasons.ts';

const words = process.argv.slice(2).filter((argument) => argument !== '--direct');
const onlyDirect = process.argv.includes('--direct');
const reasons = readWrittenReasons();
const startedAt = performance.now();
// Each run is a suite, a gateway and a server: two at a time keep two cores busy.
const limit = limitTo(2);

const rows = (await Promise.all(REVISIONS.map((revision) => rowsOf(revision, limit)))).flat();
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
const broken = rows.some(({ lost }) => lost.some(({ reason }) => reason === undefined));
print(`${renderLosses(rows)}\n\n${renderTable(rows)}\n\n${rows.length} rows in ${seconds} s`);
process.exitCode = broken || rows.length === 0 ? 1 : 0;

async function rowsOf(revision: Revision, limit: Limit): Promise<Row[]> {
  const ways = onlyDirect ? [] : WAYS.filter(({ name }) => isChosen(`${revision.name} ${name}`));
  if (ways.length === 0 && !(onlyDirect && isChosen(revision.name))) return [];
  const direct = await limit(() => directly(revision, (url) => suiteAgainst(url, revision)));
  if (onlyDirect) return [{ ...rowHead(revision, 'none', direct), through: '', lost: [] }];
  return Promise.all(ways.map((way) => limit(() => rowOf(revision, way, direct))));
}

async function rowOf(revision: Revision, way: Way, direct: SuiteRun): Promise<Row> {
  const through = await throughPortico(revision, way, (url) => suiteAgainst(url, revision));
  const where = `${revision.name}, ${way.name}`;
  const lost = lostChecks(direct, through).map((check) => ({
    ...check,
    reason: reasonFor(reasons, { check: check.name, where })?.reason,
  }));
  return { ...rowHead(revision, way.name, direct), through: score(through), lost };
}

function rowHead(
  revision: Revision,
  way: string,
  direct: SuiteRun,
): Pick<Row, 'revision' | 'way' | 'direct'> {
  return { revision: revision.name, way, direct: score(direct) };
}

function suiteAgainst(url: string, { suiteArgs }: Revision): Promise<SuiteRun> {
  return runSuite(['server', '--url', url, ...suiteArgs]);
}

function score(run: SuiteRun): string {
  const { passed, scored } = tally(run);
  return `${passed}/${scored}`;
}

function isChosen(text: string): boolean {
  return words.every((word) => text.includes(word));
}

function print(text: string): void {
  process.stdout.write(`${text.trim()}\n`);
}
