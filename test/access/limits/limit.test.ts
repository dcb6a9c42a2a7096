// Which requests a limit concerns, and by which counters: callers that share a counter share what it allows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limit, type LimitedRequest } from '../../../src/access/limits/limit.ts';
import type { LimitConfig } from '../../../src/config/limits-config.ts';
import { arrival, limitConfig, limitedRequest, person } from './limits-rig.ts';

const search = limitedRequest({ target: { kind: 'tools', name: 'search_code' } });

function counters(config: Partial<LimitConfig>, request: LimitedRequest = search) {
  return new Limit(limitConfig(config)).countersOf(request);
}

const ONE_COUNTER_EACH: readonly [key: LimitConfig['key'], Partial<LimitedRequest>][] = [
  [['ip'], { arrival: arrival('10.0.0.9') }],
  [['principal'], { principal: person('bob') }],
  [['principal'], { principal: { ...person('alice'), issuer: 'https://other.example' } }],
  [['client'], { principal: { ...person('alice'), clientId: 'other' } }],
  [['group'], { principal: { ...person('alice'), groups: ['other'] } }],
  [['server'], { server: 'other' }],
  [['tool'], { target: { kind: 'tools', name: 'other' } }],
  [['tool'], { server: 'other' }],
  [['principal', 'tool'], { target: { kind: 'tools', name: 'other' } }],
  [['ip', 'server'], { server: 'other' }],
];
for (const [key, changes] of ONE_COUNTER_EACH) {
  test(`${key.join('+')}: ${JSON.stringify(Object.keys(changes))} that differs counts apart`, () => {
    const one = counters({ key });
    assert.equal(one.length, 1);
    assert.notDeepEqual(counters({ key }, { ...search, ...changes }), one);
    assert.deepEqual(counters({ key }, { ...search }), one);
  });
}

test('a principal is one whatever client it uses, and whatever token it holds', () => {
  const again = { ...person('alice'), clientId: 'other', tokenId: 'other', scopes: ['more'] };
  assert.deepEqual(
    counters({ key: ['principal'] }, { ...search, principal: again }),
    counters({ key: ['principal'] }),
  );
});

test('names cannot be made to run into each other', () => {
  const request = (server: string, name: string) => ({
    ...search,
    server,
    target: { kind: 'tools' as const, name },
  });
  const key = ['server', 'tool'] as const;
  assert.notDeepEqual(counters({ key }, request('a', 'b","c')), counters({ key }, request('a","b', 'c')));
});

test('a caller counts in each of their groups, once; those in none share a counter', () => {
  const inGroups = (...groups: string[]) =>
    counters({ key: ['group'] }, { ...search, principal: { ...person('alice'), groups } });
  assert.equal(inGroups('a', 'b', 'a').length, 2);
  assert.ok(inGroups('b').every((counter) => inGroups('a', 'b').includes(counter)));
  assert.equal(inGroups().length, 1);
  assert.deepEqual(inGroups(), inGroups());
  assert.notDeepEqual(inGroups(), inGroups('a'));
});

test('what a request does not have, it is not counted by', () => {
  const merged = limitedRequest({ server: undefined, target: undefined });
  assert.deepEqual(counters({ key: ['server'] }, merged), []);
  assert.deepEqual(counters({ key: ['tool'] }, merged), []);
  assert.equal(counters({ key: ['principal'] }, merged).length, 1);
  const prompt = limitedRequest({ target: { kind: 'prompts', name: 'search_code' } });
  assert.deepEqual(counters({ key: ['principal', 'tool'] }, prompt), []);
});

const MATCHES: readonly [match: string, request: Partial<LimitedRequest>, concerned: boolean][] = [
  ['*', { server: undefined, target: undefined }, true],
  ['*', {}, true],
  ['docs', {}, true],
  ['docs', { target: undefined }, true],
  ['docs', { target: { kind: 'resources', name: 'file:///x' } }, true],
  ['docs', { server: 'other' }, false],
  ['docs', { server: undefined, target: undefined }, false],
  ['docs/search_*', {}, true],
  ['docs/search_*', { target: { kind: 'tools', name: 'Search_code' } }, false],
  ['docs/search_*', { target: { kind: 'prompts', name: 'search_code' } }, false],
  ['docs/search_*', { target: undefined }, false],
  ['docs/search_*', { server: 'other' }, false],
  ['docs/prompts/**', { target: { kind: 'prompts', name: 'a/b' } }, true],
  ['docs/resources/file:///srv/**', { target: { kind: 'resources', name: 'file:///srv/a/b' } }, true],
  ['docs/resources/file:///srv/**', { target: { kind: 'resources', name: 'file:///etc/a' } }, false],
];
for (const [match, changes, concerned] of MATCHES) {
  test(`${match} ${concerned ? 'concerns' : 'does not concern'} ${JSON.stringify(changes)}`, () => {
    assert.equal(
      counters({ key: ['principal'], match }, { ...search, ...changes }).length,
      concerned ? 1 : 0,
    );
  });
}

test('a counter is a short key that tells nobody who it is, unlike those of other limits and windows', () => {
  const long = limitedRequest({ target: { kind: 'tools', name: 'x'.repeat(100_000) } });
  const [counter = ''] = counters({ name: 'fair', key: ['principal', 'tool'] }, long);
  assert.match(counter, /^limit:fair:60000:[\w-]{43}$/);
  assert.ok(!counter.includes('alice'));
  assert.notEqual(counters({ name: 'other', key: ['principal', 'tool'] }, long)[0], counter);
  assert.notEqual(counters({ name: 'fair', key: ['principal', 'tool'], windowMs: 1_000 }, long)[0], counter);
});

test('only what is known before anything is read guards the edge', () => {
  const isGuard = (config: Partial<LimitConfig>) => new Limit(limitConfig(config)).isGuard;
  assert.ok(isGuard({ key: ['ip'] }));
  assert.ok(!isGuard({ key: ['ip', 'principal'] }));
  assert.ok(!isGuard({ key: ['principal'] }));
  assert.ok(!isGuard({ key: ['ip'], match: 'docs' }));
  assert.ok(!isGuard({ key: ['ip'], cost: { call: 5, list: 1 } }));
  assert.ok(!isGuard({ key: ['ip'], max: undefined, inFlight: 1 }));
});

test('a guard counts an address by one counter', () => {
  const guard = new Limit(limitConfig({ key: ['ip'] }));
  assert.deepEqual(guard.countersOf(limitedRequest({ arrival: arrival('10.0.0.1') })), [
    guard.counterOfAddress('10.0.0.1'),
  ]);
});
