import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabelTree } from '../../src/telemetry/label-tree.ts';

const LABELS = [['a', 'b'], ['b', 'a'], ['a', ''], ['', 'a'], ['a\nb', ''], ['__proto__', 'b'], ['a'], []];

test('each combination of labels has a place of its own, the same each time', () => {
  const tree = new LabelTree<number>();
  for (const [index, labels] of LABELS.entries()) {
    assert.equal(tree.at(labels).value, undefined, labels.join());
    tree.at(labels).value = index;
  }
  for (const [index, labels] of LABELS.entries()) assert.equal(tree.at([...labels]).value, index);
});
