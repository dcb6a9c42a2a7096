import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SealedFields } from '../../../src/bridge/seals/sealed-fields.ts';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';
import { failure } from '../../support/http-rig.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const state = new SealedState();
const fields = (method: string, params?: JsonObject, principal = 'alice', generation = 'g1') =>
  new SealedFields({ state, principal, server: 'docs', generation, method, params });

test('F23: a request state goes out sealed and comes back for the same call alone', () => {
  const call = { name: 'deploy', arguments: { to: 'prod' } };
  const result = { resultType: 'input_required', inputRequests: { q: {} }, requestState: 'inner' };
  const sealed = fields('tools/call', call).sealResult(result);
  assert.notEqual(sealed.requestState, 'inner');
  assert.deepEqual({ ...sealed, requestState: 'inner' }, result, 'and all else is untouched');
  const { requestState } = sealed;
  const retry = { ...call, requestState, inputResponses: { q: {} } };
  assert.deepEqual(fields('tools/call', retry).openParams(), { ...retry, requestState: 'inner' });
  const foreign = [
    fields('tools/call', retry, 'bob'),
    fields('tools/call', { ...retry, name: 'other' }),
    fields('prompts/get', retry),
    fields('tools/call', { ...retry, requestState: 'inner' }),
    fields('tools/call', { ...retry, requestState: 7 }),
    fields('tools/call', { ...retry, requestState: null }),
  ];
  for (const one of foreign) assert.throws(() => one.openParams(), failure('state-invalid', 'requestState'));
});

test('F27: a cursor goes out sealed and comes back for the same list alone', () => {
  const sealed = fields('tools/list').sealResult({ tools: [], nextCursor: '' });
  assert.notEqual(sealed.nextCursor, '', 'an empty one is a cursor too');
  assert.deepEqual(fields('tools/list', { cursor: sealed.nextCursor as string }).openParams(), {
    cursor: '',
  });
  for (const method of ['prompts/list', 'resources/templates/list']) {
    const other = fields(method, { cursor: sealed.nextCursor as string });
    assert.throws(() => other.openParams(), failure('state-invalid', 'cursor'));
  }
});

test('F27: a cursor of a link that is gone is as good as any other', () => {
  const sealed = fields('tools/list').sealResult({ tools: [], nextCursor: 'n' });
  const { nextCursor: cursor } = sealed as { nextCursor: string };
  const later = fields('tools/list', { cursor }, 'alice', 'g2');
  assert.throws(() => later.openParams(), failure('state-invalid', 'cursor'));
});

test('members of that name are left alone where they mean something else', () => {
  const params = { cursor: 'mine', taskId: 'mine', name: 'x', arguments: { requestState: 's', cursor: 'c' } };
  assert.deepEqual(fields('tools/call', params).openParams(), params);
  const result = { nextCursor: 'n', taskId: 't', structuredContent: { requestState: 's' } };
  assert.deepEqual(fields('tools/call', params).sealResult(result), result);
});

test('task ids go out sealed wherever they stand, and open in every task method', () => {
  const created = fields('tools/call', { name: 'x' }).sealResult({
    task: { taskId: 't1', status: 'working' },
  });
  const { taskId } = created.task as JsonObject;
  assert.notEqual(taskId, 't1');
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'])
    assert.deepEqual(fields(method, { taskId }).openParams(), { taskId: 't1' });
  const modern = fields('tools/call', {}).sealResult({ resultType: 'task', taskId: 't1' });
  assert.equal(modern.taskId, taskId, 'one task, one id');
  const listed = fields('tasks/list').sealResult({ tasks: [{ taskId: 't1' }, 'odd'], nextCursor: 'c' });
  assert.deepEqual(listed.tasks, [{ taskId }, 'odd']);
  const got = fields('tasks/get', { taskId }).sealResult({ taskId: 't1', status: 'completed' });
  assert.equal(got.taskId, taskId);
  const status = fields('tools/call', {}).sealMessage({ taskId: 't1', status: 'working' });
  assert.equal(status.taskId, taskId);
  assert.throws(() => fields('tasks/get', { taskId }, 'bob').openParams(), failure('state-invalid', 'task'));
});

test('so do the ids of a subscription to tasks, and of what is related to one', () => {
  const taskId = (fields('tools/call', {}).sealResult({ task: { taskId: 't1' } }).task as JsonObject)
    .taskId as string;
  const filter = { notifications: { taskIds: [taskId], toolsListChanged: true } };
  const opened = fields('subscriptions/listen', filter).openParams();
  assert.deepEqual(opened, { notifications: { taskIds: ['t1'], toolsListChanged: true } });
  assert.deepEqual(fields('subscriptions/listen', filter).sealMessage(opened ?? {}), filter);
  const related = { _meta: { [RELATED]: { taskId: 't1', more: 1 }, other: 2 } };
  const sealed = fields('tasks/result', { taskId }).sealResult(related);
  assert.deepEqual(sealed, { _meta: { [RELATED]: { taskId, more: 1 }, other: 2 } });
  assert.deepEqual(fields('tools/call', sealed).openParams(), related);
});

test('no params stay none', () => assert.equal(fields('tools/list').openParams(), undefined));
