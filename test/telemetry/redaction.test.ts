import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRedact } from '../../src/telemetry/redaction.ts';

const SECRET = 'c4nary/s3cret+value="1"';
const redact = createRedact([SECRET, '987654321', 'abc', 'key-of-the-docs', 'key-of-the-docs-server']);

const FORMS: Readonly<Record<string, string>> = {
  'as it is': `failed with ${SECRET}!`,
  'inside JSON': JSON.stringify({ anything: `with ${SECRET} in it` }),
  'percent-encoded': `/path/${encodeURIComponent(SECRET)}/more`,
  'in base64': `seen ${Buffer.from(SECRET).toString('base64')} there`,
};

for (const [name, text] of Object.entries(FORMS)) {
  test(`F58: a registered value is masked ${name}`, () => {
    const masked = redact(text);
    assert.doesNotMatch(masked, /c4nary|YzRuYXJ5/);
    assert.match(masked, /\[redacted\]/);
  });
}

test('F58: a registered value that starts with another one leaves no tail behind', () => {
  assert.equal(redact('<key-of-the-docs-server> <key-of-the-docs>'), '<[redacted]> <[redacted]>');
});

test('F58: registered digits are masked as whole numbers, and the line stays JSON', () => {
  const line = JSON.stringify({ time: 1987654321000, pin: 987654321, text: 'pin 987654321' });
  assert.deepEqual(JSON.parse(redact(line)), { time: 1987654321000, pin: 0, text: 'pin 0' });
});

test('a value too short to be a secret does not hide the log', () => {
  assert.equal(redact('abc is the alphabet'), 'abc is the alphabet');
});

const MEMBERS = [
  'authorization',
  'Proxy-Authorization',
  'cookie',
  'Set-Cookie',
  'x-api-key',
  'access_token',
  'refresh_token',
  'client_secret',
  'clientSecret',
  'password',
  'mcp-session-id',
];

for (const member of MEMBERS) {
  test(`F58: what a JSON member ${member} holds is masked, at any depth`, () => {
    const line = JSON.stringify({ deep: [{ er: { [member]: 'some "quoted" value', kept: 'yes' } }] });
    assert.deepEqual(JSON.parse(redact(line)), { deep: [{ er: { [member]: '[redacted]', kept: 'yes' } }] });
    const list = JSON.stringify({ [member]: ['one', 'two'], kept: 'yes' });
    assert.deepEqual(JSON.parse(redact(list)), { [member]: '[redacted]', kept: 'yes' });
  });
}

const SHAPES: readonly (readonly [string, string])[] = [
  ['header was Bearer abcdefgh.ijkl', 'header was Bearer [redacted]'],
  ['got eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl today', 'got [redacted] today'],
  ['at https://user:pass@host/path', 'at https://[redacted]@host/path'],
  ['redis://:pass@host:6379/0', 'redis://[redacted]@host:6379/0'],
  ['GET https://host/path?access_token=x&b=c#frag', 'GET https://host/path?[redacted]#frag'],
];

for (const [text, masked] of SHAPES) {
  test(`F58: ${text}`, () => assert.equal(redact(text), masked));
}

test('text without secrets stays as it is', () => {
  const line = '{"level":30,"view":"docs","target":"search_pages","url":"https://host/path","ms":1.25}\n';
  assert.equal(redact(line), line);
});

test('F58: whatever the secret and wherever it stands, a line of JSON stays JSON without it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (secret, before, after) => {
      // Text that is part of the line's own framing cannot be told from a secret.
      fc.pre(!'{"text":""}[redacted]'.includes(secret) && !/^\d+$/.test(secret));
      const line = createRedact([secret])(JSON.stringify({ text: before + secret + after }));
      const { text } = JSON.parse(line) as { text: string };
      assert.ok(!text.includes(secret));
    }),
  );
});
