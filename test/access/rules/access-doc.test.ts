// docs/access.md says only what is so: its config loads, its conditions compile, its sentences about limits hold.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Condition } from '../../../src/access/rules/condition.ts';
import { judgeAccess } from '../../../src/access/rules/judge-access.ts';
import { parseTargetPattern, TargetPattern } from '../../../src/access/rules/target-pattern.ts';
import { loadedConfig } from '../../config/written-config.ts';

const document = await readFile(new URL('../../../docs/access.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );

test('its config loads without a doubt', async (t) => {
  const [text = ''] = blocks('yaml');
  const env = { PATH: process.env.PATH };
  const { config, warnings } = await loadedConfig(t, text, { env, judges: [judgeAccess] });
  assert.deepEqual(
    warnings.filter(({ path }) => path.startsWith('gateway')),
    [],
  );
  assert.equal(config.gateway.access?.rules.length, 3);
});

test('its conditions are conditions', () => {
  const lines = blocks('cel').flatMap((text) => text.trim().split('\n'));
  assert.equal(lines.length, 5);
  for (const line of lines) new Condition(line);
});

test('its targets are targets', () => {
  const targets = [...document.matchAll(/^\| (`[^|]*`) +\|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
    .filter((text) => text === '*' || text.includes('/'));
  assert.equal(targets.length, 5);
  for (const text of targets) assert.ok(parseTargetPattern(text) instanceof TargetPattern, text);
});

test('its variables are those of conditions', () => {
  const table = document.slice(document.indexOf('| variable'), document.indexOf('```cel'));
  const variables = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  for (const name of variables) new Condition(`${name} == ${name}`);
  assert.deepEqual(variables, ['arguments', 'tool', 'prompt', 'resource', 'server', 'principal']);
});
