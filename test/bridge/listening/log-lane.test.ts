// Log lines of a modern child that principals share name no request: they must not cross.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLanes } from '../../../src/bridge/listening/log-lane.ts';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import { scriptedLink } from '../../support/scripted-link.ts';

const LINE: ServerMessage = { jsonrpc: '2.0', method: 'notifications/message', params: { data: 'a line' } };

function rig() {
  const { link } = scriptedLink({ era: 'modern' });
  const lanes = new LogLanes();
  const heard: string[] = [];
  const take = (principal: string) => lanes.take(link, { principal, deliver: () => heard.push(principal) });
  return { link, lanes, heard, take, say: () => lanes.receive(LINE, link) };
}

test('one request at a time has the lane, whoever asks for it meanwhile', () => {
  const { take, say, heard } = rig();
  const hold = take('ada');
  assert.equal(take('bob'), undefined);
  assert.equal(take('ada'), undefined);
  say();
  assert.deepEqual(heard, ['ada']);
  hold?.release();
  assert.ok(take('bob'));
  say();
  assert.deepEqual(heard, ['ada', 'bob']);
});

test("what is said while nobody has the lane is nobody's", () => {
  const { take, say, heard } = rig();
  say();
  take('ada')?.release();
  say();
  assert.deepEqual(heard, []);
});

test('a call that was given up may go on talking: others get no lane, its own principal does', () => {
  const { link, lanes, take, say, heard } = rig();
  lanes.noteGivenUp(link, 'ada');
  assert.equal(take('bob'), undefined);
  const again = take('ada');
  assert.ok(again);
  say();
  again.release();
  assert.equal(take('bob'), undefined, 'the call that was given up may still be talking');
  say();
  assert.deepEqual(heard, ['ada']);
});

test("a line is nobody's while other calls are in flight: a server may log for who did not ask", () => {
  const { link, take, say, heard } = rig();
  take('bob');
  link.inFlight = 2;
  say();
  assert.deepEqual(heard, []);
  link.inFlight = 1;
  say();
  assert.deepEqual(heard, ['bob']);
});

test('a lane is given back once', () => {
  const { take, say, heard } = rig();
  const first = take('ada');
  first?.release();
  take('bob');
  first?.release();
  say();
  assert.deepEqual(heard, ['bob']);
});

test('links have lanes of their own', () => {
  const { lanes, take } = rig();
  const { link: other } = scriptedLink({ era: 'modern' });
  take('ada');
  assert.ok(lanes.take(other, { principal: 'bob', deliver: () => {} }));
});

test('only log lines go down the lane', () => {
  const { link, lanes, take, heard } = rig();
  take('ada');
  lanes.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, link);
  assert.deepEqual(heard, []);
});
