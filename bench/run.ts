// `npm run bench`: see docs/performance.md for what is measured, and how.
import { writeFile } from 'node:fs/promises';
import { GROUPS } from './groups.ts';
import { CORES } from './machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './options.ts';
import { jsonOf, tableOf } from './report.ts';
import { type Row, runRounds } from './rounds.ts';
import { Stage } from './stage.ts';

process.exitCode = await main();

async function main(): Promise<number> {
  let options: BenchOptions | 'help';
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (thrown) {
    process.stderr.write(`bench: ${thrown instanceof Error ? thrown.message : thrown}\n\n${USAGE}`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (CORES === undefined)
    print('There is one core, or no taskset: the generator takes from what it measures.');
  const rows: Row[] = [];
  const gaps = new Set<string>();
  for (const name of options.groups) {
    await using stage = await Stage.open(options);
    const group = await GROUPS[name](stage);
    print(`\n${group.title}`);
    const measured: Row[] = [];
    for (const concurrency of group.concurrencies) {
      const { rounds, forMs, quick } = options;
      measured.push(...(await runRounds(group.contestants, { concurrency, rounds, forMs, half: !quick })));
    }
    print(tableOf(measured));
    rows.push(...measured);
    for (const gap of stage.gaps) gaps.add(gap);
  }
  for (const gap of gaps) print(`Not measured: ${gap}`);
  if (options.jsonFile !== undefined) {
    await writeFile(options.jsonFile, `${JSON.stringify(jsonOf(rows), null, 2)}\n`);
  }
  return 0;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
