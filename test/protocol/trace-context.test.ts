import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mergeTraceContexts,
  parseTraceParent,
  readTraceContext,
  withTraceContext,
} from '../../src/protocol/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const OTHER = `00-${TRACE.replace('0', '1')}-${SPAN}-00`;

const PARENTS: readonly (readonly [string, string, boolean])[] = [
  ['as it should be', PARENT, true],
  ['of a later version, with more members', `01-${TRACE}-${SPAN}-01-what-comes`, true],
  ['of the version that is none', `ff-${TRACE}-${SPAN}-01`, false],
  ['of this version, with more members', `${PARENT}-more`, false],
  ['in upper case', PARENT.toUpperCase(), false],
  ['with no trace', `00-${'0'.repeat(32)}-${SPAN}-01`, false],
  ['with no span', `00-${TRACE}-${'0'.repeat(16)}-01`, false],
  ['too short', PARENT.slice(0, -1), false],
  ['twice, as HTTP joins it', `${PARENT}, ${PARENT}`, false],
  ['with a line after it', `${PARENT}\n`, false],
  ['without end', `01-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`, false],
];

for (const [how, text, isGood] of PARENTS) {
  test(`a traceparent ${how} is ${isGood ? 'one' : 'none'}`, () => {
    assert.deepEqual(parseTraceParent(text)?.traceId, isGood ? TRACE : undefined);
    assert.deepEqual(readTraceContext({ traceparent: text }), isGood ? { traceparent: text } : undefined);
  });
}

test('a state goes with its parent alone, and nothing goes that a header could not carry', () => {
  assert.deepEqual(readTraceContext({ traceparent: PARENT, tracestate: 'a=1,b=2' }), {
    traceparent: PARENT,
    tracestate: 'a=1,b=2',
  });
  assert.equal(readTraceContext({ tracestate: 'a=1' }), undefined);
  assert.equal(readTraceContext({ traceparent: 'nonsense', tracestate: 'a=1' }), undefined);
  assert.deepEqual(readTraceContext({ traceparent: 'nonsense', baggage: 'k=v' }), { baggage: 'k=v' });
  for (const baggage of ['', 'k=v\r\nx-injected: 1', 'ü', 'x'.repeat(8_193), 7, null, ['k=v']]) {
    assert.deepEqual(readTraceContext({ traceparent: PARENT, baggage, tracestate: baggage }), {
      traceparent: PARENT,
    });
  }
});

test('what a message says of its trace goes before what its headers say; baggage is taken where there is some', () => {
  const ofHeaders = { traceparent: OTHER, tracestate: 'h=1', baggage: 'from=headers' };
  assert.deepEqual(mergeTraceContexts(undefined, ofHeaders), ofHeaders);
  assert.deepEqual(mergeTraceContexts({ traceparent: PARENT }, ofHeaders), {
    traceparent: PARENT,
    baggage: 'from=headers',
  });
  assert.deepEqual(mergeTraceContexts({ baggage: 'from=meta' }, ofHeaders), {
    ...ofHeaders,
    baggage: 'from=meta',
  });
  assert.equal(mergeTraceContexts(undefined, undefined), undefined);
});

test('a context that is put into params leaves everything else there, but for a state of another parent', () => {
  const params = { name: 'x', _meta: { traceparent: OTHER, tracestate: 'old=1', 'com.example/x': [1] } };
  assert.deepEqual(withTraceContext(params, { traceparent: PARENT, baggage: 'k=v' }), {
    name: 'x',
    _meta: { 'com.example/x': [1], traceparent: PARENT, baggage: 'k=v' },
  });
  assert.deepEqual(withTraceContext(undefined, { baggage: 'k=v' }), { _meta: { baggage: 'k=v' } });
  assert.equal(params._meta.tracestate, 'old=1');
});
