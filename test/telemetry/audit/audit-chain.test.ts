// The chain of audit records: what was changed, removed or put in between shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addToChain, CHAIN_START, chainFault, headOf } from '../../../src/telemetry/audit/audit-chain.ts';
import { createTextDigest } from '../../../src/telemetry/audit/text-digest.ts';

const START = { seq: 0, hash: CHAIN_START };

function chainOf(records: readonly object[], key?: string): string[] {
  let head = START;
  return records.map((record) => {
    const link = addToChain(head, JSON.stringify(record), createTextDigest(key));
    head = link.head as typeof START;
    return link.line;
  });
}

/** The place and the problem of the first fault. */
function firstFault(lines: readonly string[], key?: string): [number, string] | undefined {
  let head: ReturnType<typeof headOf> = START;
  for (const [index, line] of lines.entries()) {
    const problem = chainFault(line, head, createTextDigest(key));
    if (problem !== undefined) return [index, problem];
    head = headOf(line);
  }
  return undefined;
}

const RECORDS = [{ a: 1 }, { b: 'two' }, { hash: 'no', c: [',"hash":"x"}'] }, { d: null }];

for (const key of [undefined, 'k'.repeat(32)]) {
  const how = key === undefined ? 'without a key' : 'with a key';
  test(`a chain ${how} is in order, and each line is the JSON that went in`, () => {
    const lines = chainOf(RECORDS, key);
    assert.equal(firstFault(lines, key), undefined);
    for (const [index, line] of lines.entries()) {
      const { seq, prev, hash, ...members } = JSON.parse(line);
      const { hash: _hash, ...expected } = RECORDS[index] as { hash?: string };
      assert.deepEqual(members, expected);
      assert.deepEqual([seq, prev.length, hash.length], [index + 1, 43, 43]);
    }
  });

  test(`every flipped character of a chain ${how} is found in its record`, () => {
    const lines = chainOf(RECORDS, key);
    fc.assert(
      fc.property(
        fc.nat(lines.length - 1),
        fc.nat(),
        fc.constantFrom('x', '0', '"', ' '),
        (index, at, other) => {
          const line = lines[index] as string;
          const place = at % line.length;
          const changed = line.slice(0, place) + other + line.slice(place + 1);
          if (changed === line) return;
          assert.equal(firstFault(lines.with(index, changed), key)?.[0], index);
        },
      ),
    );
  });

  test(`a record taken from, or put into, a chain ${how} is found where it stood`, () => {
    const lines = chainOf(RECORDS, key);
    assert.deepEqual(firstFault(lines.toSpliced(1, 1), key), [1, 'record 2 is missing: this one is 3']);
    assert.equal(firstFault(lines.toSpliced(2, 0, lines[1] as string), key)?.[0], 2);
    const swapped = lines.with(1, lines[2] as string).with(2, lines[1] as string);
    assert.equal(firstFault(swapped, key)?.[0], 1);
  });
}

test('whoever lacks the key can make no record', () => {
  const lines = chainOf(RECORDS, 'the key of the operator');
  const forged = addToChain(
    headOf(lines[1] as string) ?? START,
    '{"a":"forged"}',
    createTextDigest('another'),
  ).line;
  const [index, problem] = firstFault([...lines.slice(0, 2), forged], 'the key of the operator') ?? [];
  assert.deepEqual([index, problem], [2, 'this record has been changed, or was written with another key']);
});

test('what is no record has no place in a chain', () => {
  for (const line of ['', '{}', '42', '{"seq":1}', '{"seq":1,"prev":"short","hash":"short"}']) {
    assert.equal(headOf(line), undefined, line);
    assert.equal(
      chainFault(line, undefined, createTextDigest(undefined)),
      'this is no record of a chain',
      line,
    );
  }
});
