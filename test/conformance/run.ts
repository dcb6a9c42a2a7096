// `npm run conformance`: the official suite against the everything-server, and an SDK's client against the suite's
// mock servers, direct and through Portico, compared check by check. Ends with 1 where a check is lost that README.md
// gives no reason for. Arguments: --direct leaves Portico out; words choose rows by their text, as `2026-07-28 stdio`.
import { lostChecks, type SuiteRun, tally } from './checks.ts';
import { CLIENT_SCENARIOS, runClientScenarios } from './client-scenarios.ts';
import { limitTo } from './limit.ts';
import { REVISIONS, type Revision } from './revisions.ts';
import { runSuite } from './suite.ts';
import { type Row, renderLosses, renderTable } from './table.ts';
import { directly, throughPortico, waysOf } from './ways.ts';
import { readWrittenReasons, type WrittenReason } from './written-reasons.ts';

const CLIENT_WAY = 'mock of the suite';

const words = process.argv.slice(2).filter((argument) => argument !== '--direct');
const withPortico = !process.argv.includes('--direct');
const reasons = readWrittenReasons();
const used = new Set<WrittenReason>();
// Each run is a suite, a gateway and a server: two at a time keep two cores busy.
const limit = limitTo(2);

const startedAt = performance.now();
const found = await Promise.all([
  ...REVISIONS.map(serverRows),
  ...Object.keys(CLIENT_SCENARIOS).map((revision) => clientRow(revision)),
]);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);

const rows = found.flat();
const stale = withPortico && words.length === 0 ? reasons.filter((reason) => !used.has(reason)) : [];
print(renderLosses(rows));
print(renderTable(rows));
for (const { check, where } of stale) print(`README.md excuses what is not lost: ${check} at ${where}`);
print(`${rows.length} rows in ${seconds} s`);
const unexplained = rows.some(({ lost }) => lost.some(isUnexplained));
// A direct run that fails something would hide the same failure through Portico.
const flawed = rows.some(({ direct }) => direct.passed < direct.scored);
process.exitCode = unexplained || flawed || stale.length > 0 || rows.length === 0 ? 1 : 0;

async function serverRows(revision: Revision): Promise<Row[]> {
  const against = (url: string) => runSuite(['server', '--url', url, ...revision.suiteArgs]);
  const ways = waysOf(revision).filter(({ name }) => isChosen(`${revision.name} ${name}`));
  if (ways.length === 0) return [];
  const direct = await limit(() => directly(revision, against));
  if (!withPortico) return [compare(revision.name, '', direct, undefined)];
  return Promise.all(
    ways.map((way) =>
      twiceAtMost(async () => {
        const through = await limit(() => throughPortico(revision, way, against));
        return compare(revision.name, way.name, direct, through);
      }),
    ),
  );
}

async function clientRow(revision: string): Promise<Row[]> {
  if (!isChosen(`${revision} ${CLIENT_WAY}`)) return [];
  const direct = await runClientScenarios(revision, { portico: false, limit });
  if (!withPortico) return [compare(revision, CLIENT_WAY, direct, undefined)];
  const row = await twiceAtMost(async () => {
    const through = await runClientScenarios(revision, { portico: true, limit });
    return compare(revision, CLIENT_WAY, direct, through);
  });
  return [row];
}

/** Some scenarios allow an answer some hundred milliseconds, which a busy machine may need for starting a process. */
async function twiceAtMost(run: () => Promise<Row>): Promise<Row> {
  const first = await run();
  if (!first.lost.some(isUnexplained)) return first;
  const second = await run();
  const names = first.lost.filter(isUnexplained).map(({ name }) => name);
  print(`Run again at ${first.revision}, ${first.way}, for it had lost ${names.join(', ')}`);
  return second;
}

function isUnexplained({ reason }: Row['lost'][number]): boolean {
  return reason === undefined;
}

function compare(revision: string, way: string, direct: SuiteRun, through: SuiteRun | undefined): Row {
  if (through === undefined) return { revision, way, direct: tally(direct), through: undefined, lost: [] };
  const lost = lostChecks(direct, through).map((check) => {
    const reason = reasons.find((written) => written.excuses(check.name, `${revision}, ${way}`));
    if (reason !== undefined) used.add(reason);
    return { ...check, reason: reason?.text };
  });
  return { revision, way, direct: tally(direct), through: tally(through), lost };
}

function isChosen(text: string): boolean {
  return words.every((word) => text.includes(word));
}

function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n\n`);
}
