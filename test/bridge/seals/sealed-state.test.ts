import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type SealContext, SealedState } from '../../../src/bridge/seals/sealed-state.ts';

const DAY_MS = 24 * 3_600_000;
const CONTEXT: SealContext = {
  purpose: 'requestState',
  principal: 'alice',
  server: 'docs',
  scope: 'tools/call x',
};
const LAST_MOMENT = 20_000 * DAY_MS - 1;

test('what was sealed opens for the same caller, server, purpose and scope, and says nothing to others', () => {
  const state = new SealedState();
  for (const value of ['', 'state', 'ünï 🌍', '\0', 'x'.repeat(10_000)]) {
    const sealed = state.seal(value, CONTEXT);
    assert.match(sealed, /^[\w-]+$/);
    assert.equal(state.open(sealed, CONTEXT), value);
    if (value.length > 3) assert.ok(!Buffer.from(sealed, 'base64url').includes(value));
  }
});

const FOREIGN: readonly [string, Partial<SealContext>][] = [
  ['principal', { principal: 'bob' }],
  ['server', { server: 'mail' }],
  ['purpose', { purpose: 'cursor' }],
  ['scope', { scope: 'tools/call y' }],
];
for (const [what, change] of FOREIGN) {
  test(`F23, F32: it does not open for another ${what}`, () => {
    const state = new SealedState();
    assert.equal(state.open(state.seal('state', CONTEXT), { ...CONTEXT, ...change }), undefined);
  });
}

test('parts of the binding cannot be shifted into each other', () => {
  const state = new SealedState();
  const sealed = state.seal('x', { ...CONTEXT, principal: 'a","b', server: 'c' });
  assert.equal(state.open(sealed, { ...CONTEXT, principal: 'a', server: 'b","c' }), undefined);
});

test('not one bit of it may change', () => {
  const state = new SealedState();
  const bytes = Buffer.from(state.seal('state', CONTEXT), 'base64url');
  for (let index = 0; index < bytes.length; index += 1) {
    const tampered = Buffer.from(bytes);
    tampered[index] = (tampered[index] ?? 0) ^ 1;
    assert.equal(state.open(tampered.toString('base64url'), CONTEXT), undefined, `byte ${index}`);
  }
  for (let length = 0; length < bytes.length; length += 1) {
    assert.equal(state.open(bytes.subarray(0, length).toString('base64url'), CONTEXT), undefined);
  }
});

test('nor may its spelling: one value has one text', () => {
  const state = new SealedState();
  const sealed = state.seal('state', CONTEXT);
  for (const text of [
    `${sealed}=`,
    `${sealed}A`,
    ` ${sealed}`,
    `${sealed}\n`,
    sealed.replace(/.$/, '$&$&'),
  ]) {
    assert.equal(state.open(text, CONTEXT), undefined, JSON.stringify(text));
  }
});

test('garbage of any kind is nothing', () => {
  const state = new SealedState();
  for (const text of ['', 'x', 'parked abc 1', '{}', '\0', 'A'.repeat(100), 'A'.repeat(100_000), '🌍'])
    assert.equal(state.open(text, CONTEXT), undefined);
});

test('another process, which has another root, opens nothing of ours; one with the same root does', () => {
  const root = randomBytes(32);
  const sealed = new SealedState(root).seal('state', CONTEXT);
  assert.equal(new SealedState().open(sealed, CONTEXT), undefined);
  assert.equal(new SealedState(root).open(sealed, CONTEXT), 'state');
});

test("yesterday's seal opens to the end of today; two days ago is too long", () => {
  const clock = { nowMs: LAST_MOMENT };
  const state = new SealedState(randomBytes(32), () => clock.nowMs);
  const sealed = state.seal('state', CONTEXT);
  assert.equal(state.open(sealed, CONTEXT), 'state');
  clock.nowMs = LAST_MOMENT + DAY_MS;
  assert.equal(state.open(sealed, CONTEXT), 'state');
  clock.nowMs += 1;
  assert.equal(state.open(sealed, CONTEXT), undefined);
});

test("tomorrow's seal is not opened today, but about midnight, when another replica's clock may be ahead", () => {
  const root = randomBytes(32);
  const ahead = new SealedState(root, () => LAST_MOMENT + 1).seal('state', CONTEXT);
  assert.equal(new SealedState(root, () => LAST_MOMENT - 60_000).open(ahead, CONTEXT), undefined);
  assert.equal(new SealedState(root, () => LAST_MOMENT - 30_000).open(ahead, CONTEXT), 'state');
});

test('the same state sealed twice looks different; the same task looks the same, for clients compare its id', () => {
  const state = new SealedState();
  assert.notEqual(state.seal('s', CONTEXT), state.seal('s', CONTEXT));
  const task: SealContext = { ...CONTEXT, purpose: 'task', scope: '' };
  assert.equal(state.seal('t', task), state.seal('t', task));
  assert.notEqual(state.seal('t', task), state.seal('t', { ...task, principal: 'bob' }));
  assert.equal(state.open(state.seal('t', task), task), 't');
});
