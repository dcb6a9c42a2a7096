// One reload at a time; whoever asks while one runs is served by the next, with the latest word.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadedConfig } from '../../src/config/load.ts';
import { type AppliedReload, Reloads } from '../../src/lifecycle/reloads.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const LOADED = { ok: true, config: {}, warnings: [], files: [] } as unknown as LoadedConfig;
const APPLIED: AppliedReload = { outcome: 'applied', facts: {} };

function reloadsThat(apply: () => AppliedReload): Reloads {
  return new Reloads({
    logger: createLogger({ level: 'silent', secrets: [] }),
    metrics: createMetrics({ processMetrics: false }),
    isEnding: () => false,
    apply,
  });
}

test('what is asked for during a reload is one reload more, by the latest word', async () => {
  const read: string[] = [];
  const reloads = reloadsThat(() => APPLIED);
  const gate = Promise.withResolvers<void>();
  const reading = (name: string) => async () => {
    read.push(name);
    if (name === 'first') await gate.promise;
    return LOADED;
  };
  const first = reloads.request(reading('first'));
  const later = ['second', 'third', 'fourth'].map((name) => reloads.request(reading(name)));
  gate.resolve();
  assert.equal(await first, 'applied');
  assert.deepEqual(await Promise.all(later), ['applied', 'applied', 'applied']);
  assert.deepEqual(read, ['first', 'fourth']);
  await reloads.request(reading('fifth'));
  assert.deepEqual(read, ['first', 'fourth', 'fifth']);
});

test('what fails unforeseen refuses the reload, and the next one is made all the same', async () => {
  let isBroken = true;
  const reloads = reloadsThat(() => {
    if (isBroken) throw new Error('nothing can be made of it');
    return APPLIED;
  });
  const loading = async () => LOADED;
  assert.equal(await reloads.request(loading), 'refused');
  assert.deepEqual(reloads.status.lastReload?.problems, ['nothing can be made of it']);
  isBroken = false;
  assert.equal(await reloads.request(loading), 'applied');
  assert.equal(await reloads.request(() => Promise.reject(new Error('the disk is gone'))), 'refused');
});
