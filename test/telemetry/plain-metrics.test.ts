// A scrape says of a plain metric what it says of prom-client's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Histogram, Registry } from 'prom-client';
import { PlainCounter, PlainHistogram } from '../../src/telemetry/plain-metrics.ts';

const NAMED = { name: 'calls', help: 'Calls, by tool', labelNames: ['tool', 'outcome'] };
const LABELS: readonly (readonly [string, string])[] = [
  ['a', 'ok'],
  ['b "quoted"\n', 'error'],
  ['a', 'ok'],
];

test('a counter', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const plain = new PlainCounter({ ...NAMED, registry: ours });
  const counter = new Counter({ ...NAMED, registers: [theirs] });
  for (const labels of LABELS) {
    plain.labels(...labels).inc();
    counter.labels(...labels).inc();
  }
  assert.equal(await ours.metrics(), await theirs.metrics());
});

test('a histogram, at its bounds and beyond them', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const bounds = [0.01, 0.1, 1];
  const plain = new PlainHistogram({ ...NAMED, bounds, registry: ours });
  const histogram = new Histogram({ ...NAMED, buckets: bounds, registers: [theirs] });
  for (const labels of LABELS) {
    for (const value of [0, 0.01, 0.05, 0.1, 0.5, 1, 7]) {
      plain.labels(...labels).observe(value);
      histogram.labels(...labels).observe(value);
    }
  }
  assert.equal(await ours.metrics(), await theirs.metrics());
});

test('the same labels are the same child', () => {
  const plain = new PlainCounter({ ...NAMED, registry: new Registry() });
  assert.equal(plain.labels('a', 'ok'), plain.labels('a', 'ok'));
  assert.notEqual(plain.labels('a', 'ok'), plain.labels('a', 'error'));
});
