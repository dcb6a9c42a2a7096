import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenStreams } from '../../src/pipeline/open-streams.ts';

test('F24: each caller counts alone, each stream once, and nothing is kept of callers without any', () => {
  const streams = new OpenStreams();
  const place = streams.enter('a', 2);
  const other = streams.enter('a', 2);
  assert.throws(() => streams.enter('a', 2), { code: 'no-capacity' });
  const bystander = streams.enter('b', 2);
  place.leave();
  place.leave();
  const again = streams.enter('a', 2);
  assert.throws(() => streams.enter('a', 2), { code: 'no-capacity' });
  for (const each of [other, again, bystander]) each.leave();
  assert.equal(streams.callers, 0);
});
