// What is kept of a call's arguments.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonValue, readJson, writeJson } from '../../../src/protocol/json-text.ts';
import { type ArgumentsKept, auditedArguments } from '../../../src/telemetry/audit/audited-arguments.ts';
import { createTextDigest } from '../../../src/telemetry/audit/text-digest.ts';

function kept(text: string, how: ArgumentsKept, key?: string): unknown {
  return auditedArguments(readJson(text) as JsonValue, { kept: how, digest: createTextDigest(key) })
    .arguments;
}

test('a digest is the same for the same arguments, whatever the order of their members', () => {
  const digest = kept('{"b":[1,{"y":2,"x":9007199254740993}],"a":"ä"}', 'digest');
  assert.equal(kept('{"a":"\\u00e4","b":[1,{"x":9007199254740993,"y":2}]}', 'digest'), digest);
  assert.match(String(digest), /^sha256:[0-9a-f]{64}$/);
  assert.notEqual(kept('{"a":"ä","b":[1,{"x":9007199254740992,"y":2}]}', 'digest'), digest);
  assert.notEqual(kept('{"b":[{"y":2,"x":9007199254740993},1],"a":"ä"}', 'digest'), digest);
});

test('with a key a digest can be made by nobody else', () => {
  const digest = kept('{"a":1}', 'digest', 'one');
  assert.match(String(digest), /^hmac-sha256:[0-9a-f]{64}$/);
  assert.notEqual(kept('{"a":1}', 'digest', 'two'), digest);
});

test('keys are the names alone', () => {
  assert.deepEqual(kept('{"b":"secret text","a":{"c":1}}', 'keys'), ['a', 'b']);
});

test('names are kept up to a length: no caller can write a record longer than the log can be taken up with', () => {
  const record = writeJson(kept(JSON.stringify({ ['k'.repeat(1_000_000)]: 1, b: 2 }), 'keys'));
  assert.equal(record, `["b","${'k'.repeat(128)}..."]`);
});

test('full keeps what stands under any name, at any depth', () => {
  const text = '{"__proto__":{"a":1},"list":[{"constructor":{"__proto__":[2]}}],"toString":null}';
  assert.equal(writeJson(kept(text, 'full')), text);
});

test('full keeps everything but what looks like a secret, digit by digit', () => {
  const text =
    '{"id":9007199254740993,"list":[{"apiKey":"canary","Password":"canary"}],"user_token":{"x":"canary"}}';
  const full = writeJson(kept(text, 'full'));
  assert.ok(!full.includes('canary'));
  assert.ok(full.includes('9007199254740993'));
  assert.deepEqual(JSON.parse(full).list, [{ apiKey: '[redacted]', Password: '[redacted]' }]);
});

test('arguments that would fill the log are kept as a digest', () => {
  assert.match(String(kept(JSON.stringify({ text: 'x'.repeat(20_000) }), 'full')), /^sha256:/);
});

test('nothing is kept where nothing is to be kept, or nothing was sent', () => {
  const digest = createTextDigest(undefined);
  assert.deepEqual(auditedArguments({ a: 1 }, { kept: 'none', digest }), {});
  for (const how of ['digest', 'keys', 'full'] as const) {
    assert.deepEqual(auditedArguments(undefined, { kept: how, digest }), {});
  }
});
