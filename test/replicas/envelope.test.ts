// What one replica signs for another: for that one, for a minute, for once, and nothing of it may be changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CLOCK_TOLERANCE_MS,
  isDigestOf,
  type OpenedEnvelope,
  openEnvelope,
  sealEnvelope,
} from '../../src/replicas/envelope.ts';
import { forwardedHeaders } from '../../src/replicas/forwarded-headers.ts';
import { RecentNonces } from '../../src/replicas/recent-nonces.ts';
import { macOf, replicaKeys } from '../../src/replicas/replica-keys.ts';
import { EDGE, HOME, SECRET, sentExchange } from '../support/replica-wire.ts';

const { envelope: key, ...otherKeys } = replicaKeys(SECRET);
const NOW = 1_800_000_000_000;
const sent = sentExchange({ credentials: 'sealed' });

const sealed = (now = NOW) => sealEnvelope(sent, { from: EDGE, to: HOME, key, now });
const openerAt = (now = NOW) => ({
  ...{ key, self: HOME, now },
  nonces: new RecentNonces({ toleranceMs: CLOCK_TOLERANCE_MS }),
});

test('an envelope opens to what was put in', () => {
  const { line, signature, nonce } = sealed();
  const opened = openEnvelope(line, signature, openerAt()) as OpenedEnvelope;
  const { body, ...exchange } = sent;
  assert.deepEqual({ ...opened.exchange }, exchange);
  assert.deepEqual([opened.from, opened.nonce], [EDGE, nonce]);
  assert.ok(isDigestOf(opened.digest, body));
  assert.ok(!isDigestOf(opened.digest, Buffer.concat([body, Buffer.from(' ')])));
});

test('a flipped bit anywhere, in line or signature, is noticed', () => {
  const { line, signature } = sealed();
  for (let at = 0; at < line.length; at += 1) {
    const changed = Buffer.from(line);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(openEnvelope(changed, signature, openerAt()), 'signature', `byte ${at}`);
  }
  for (const wrong of [undefined, '', `${signature}x`, signature.slice(1), signature.toUpperCase(), ['x']]) {
    assert.equal(openEnvelope(line, wrong, openerAt()), 'signature');
  }
});

test('neither another secret nor a key for another use signs', () => {
  const { line } = sealed();
  const foreign = replicaKeys(`${SECRET}!`);
  for (const wrong of [...Object.values(otherKeys), ...Object.values(foreign), Buffer.from(SECRET)]) {
    assert.equal(openEnvelope(line, macOf(wrong, line), openerAt()), 'signature');
  }
  const all = [key, ...Object.values(otherKeys)].map((one) => one.toString('hex'));
  assert.equal(new Set(all).size, all.length);
});

test('an envelope is for one replica, for as long as clocks may differ, and for once', () => {
  const { line, signature } = sealed();
  assert.equal(openEnvelope(line, signature, { ...openerAt(), self: 'home-2' }), 'addressee');
  for (const [now, expected] of [
    [NOW - CLOCK_TOLERANCE_MS - 1, 'time'],
    [NOW + CLOCK_TOLERANCE_MS + 1, 'time'],
  ] as const) {
    assert.equal(openEnvelope(line, signature, openerAt(now)), expected);
  }
  const opener = openerAt();
  assert.notEqual(typeof openEnvelope(line, signature, opener), 'string');
  assert.equal(openEnvelope(line, signature, opener), 'replayed');
  const late = { ...opener, now: NOW + CLOCK_TOLERANCE_MS };
  assert.equal(openEnvelope(line, signature, late), 'replayed');
});

test('what is signed and not understood is refused, whatever is wrong with it', () => {
  const good = JSON.parse(sealed().line.toString()) as Record<string, unknown>;
  const bad: Record<string, unknown>[] = [
    { v: 1 },
    { v: 3 },
    { from: 1 },
    { at: 'now' },
    { nonce: undefined },
    { digest: undefined },
    { id: 1 },
    { kind: 'trusted' },
    { httpMethod: 'PUT' },
    { view: 1 },
    { address: undefined },
    { credentials: {} },
    { headers: { authorization: 'Bearer x' } },
    { headers: { cookie: 'x' } },
    { headers: { accept: ['x'] } },
    { principal: undefined },
    { principal: { ...sent.principal, scopes: 'mcp' } },
    { principal: { ...sent.principal, groups: [1] } },
    { principal: { ...sent.principal, clientId: undefined } },
    { principal: { ...sent.principal, tokenId: 1 } },
    { principal: { ...sent.principal, claims: [] } },
    { principal: { ...sent.principal, expiresAtMs: 'soon' } },
  ];
  const lines = [...bad.map((change) => JSON.stringify({ ...good, ...change })), 'no JSON', '[]', 'null', ''];
  for (const text of lines) {
    const line = Buffer.from(text);
    assert.equal(openEnvelope(line, macOf(key, line), openerAt()), 'shape', text);
  }
});

test('a credential is no header that is handed over', () => {
  const headers = {
    authorization: 'Bearer secret',
    cookie: 'a=b',
    'proxy-authorization': 'x',
    'x-api-key': 'x',
    host: 'h',
    accept: 'a',
    'mcp-session-id': 's',
    'mcp-param-city': 'c',
    'last-event-id': '7',
    traceparent: 't',
  };
  const names = Object.keys(forwardedHeaders(headers));
  assert.deepEqual(names, ['accept', 'mcp-session-id', 'mcp-param-city', 'last-event-id', 'traceparent']);
});

test('nonces are bounded: what is forgotten early is refused by its time', () => {
  const nonces = new RecentNonces({ toleranceMs: 30_000, max: 10 });
  const times = Array.from({ length: 20 }, (_, index) => NOW + index * 2_000);
  for (const at of times) assert.equal(nonces.take(`n${at}`, at, at), 'fresh');
  assert.ok(nonces.size <= 10);
  const now = times.at(-1) ?? NOW;
  for (const at of times) assert.notEqual(nonces.take(`n${at}`, at, now), 'fresh', `${now - at} ms old`);
  const flood = new RecentNonces({ toleranceMs: 30_000, max: 10 });
  const taken = Array.from({ length: 100 }, (_, index) => flood.take(`n${index}`, NOW, NOW));
  assert.ok(flood.size <= 10);
  assert.deepEqual([...new Set(taken)], ['fresh', 'time']);
});

test('a nonce is remembered for hardly longer than its envelope could pass', () => {
  const nonces = new RecentNonces({ toleranceMs: 30_000 });
  for (let at = NOW; at < NOW + 600_000; at += 1_000) nonces.take(`n${at}`, at, at);
  assert.ok(nonces.size <= 45, `${nonces.size} of 600 are remembered`);
});
