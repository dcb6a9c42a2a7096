// docs/eras.md, held against the features that the matrix of eras.test.ts runs through.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ERA_COMBINATIONS, ERA_FEATURES } from '../support/era-features.ts';

const text = await readFile(new URL('../../docs/eras.md', import.meta.url), 'utf8');
const [header = [], , ...rows] = text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('the table has a column for each combination of eras', () => {
  assert.deepEqual(header, ['feature', ...ERA_COMBINATIONS]);
});

test('its rows are the features that are tested, in the same order', () => {
  assert.deepEqual(
    rows.map(([feature]) => feature),
    [...ERA_FEATURES],
  );
});

test('every cell says first what becomes of the feature', () => {
  for (const [feature, ...cells] of rows) {
    assert.equal(cells.length, 4, feature);
    for (const cell of cells) assert.match(cell, /^(?:carried|changed: )/, `${feature}: ${cell}`);
  }
});

test('the tests that it names are there', async () => {
  for (const [, path = ''] of text.matchAll(/`(test\/[^`]+)`/g)) {
    await readFile(new URL(`../../${path}`, import.meta.url));
  }
});
