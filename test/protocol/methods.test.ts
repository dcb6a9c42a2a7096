import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKnownMethod, isList, isParkable, methodLabel } from '../../src/protocol/methods.ts';

const BOTH = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
];
const MODERN_ALONE = ['server/discover', 'subscriptions/listen'];
const LEGACY_ALONE = [
  'initialize',
  'ping',
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
];
/** What a server asks of a client, what is no request, and what JavaScript's objects have of their own. */
const NEITHER = [
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'notifications/initialized',
  'notifications/cancelled',
  'constructor',
  '__proto__',
  'toString',
  '',
  'Tools/List',
  'tools/list ',
];

test('each era knows its own methods and no others', () => {
  const known = (method: string) => [isKnownMethod('modern', method), isKnownMethod('legacy', method)];
  for (const method of BOTH) assert.deepEqual(known(method), [true, true], method);
  for (const method of MODERN_ALONE) assert.deepEqual(known(method), [true, false], method);
  for (const method of LEGACY_ALONE) assert.deepEqual(known(method), [false, true], method);
  for (const method of NEITHER) assert.deepEqual(known(method), [false, false], method);
});

test('lists answer from what a server has, in pages', () => {
  const all = [...BOTH, ...MODERN_ALONE, ...LEGACY_ALONE, ...NEITHER];
  assert.deepEqual(all.filter(isList), [
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
  ]);
});

test('what may be parked is what the modern revision lets a server ask something during', () => {
  const all = [...BOTH, ...MODERN_ALONE, ...LEGACY_ALONE, ...NEITHER];
  assert.deepEqual(all.filter(isParkable), ['tools/call', 'prompts/get', 'resources/read']);
});

test('a label is one of a closed set, whatever a client sends', () => {
  for (const method of [...BOTH, ...MODERN_ALONE, ...LEGACY_ALONE]) assert.equal(methodLabel(method), method);
  assert.equal(methodLabel('notifications/cancelled'), 'notifications/cancelled');
  for (const method of ['constructor', '__proto__', '', 'x'.repeat(1_000), 'tools/list\n', 'Tools/List']) {
    assert.equal(methodLabel(method), 'other');
  }
});
