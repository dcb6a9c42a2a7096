// Tasks of 2025-11-25 within a session: their ids go out sealed wherever they stand, and come back opened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { openSession } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const CAPABILITIES = { tools: {}, tasks: { list: {}, requests: { tools: { call: {} } } } };
const relatedTo = (message: Message | Members | undefined) =>
  (message as { _meta?: Record<string, Members> } | undefined)?._meta?.[RELATED]?.taskId;

test('a task has one id in its result, in status notifications and in questions, and none is the server’s', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { persona: { capabilities: CAPABILITIES } });
  await using session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
  const stream = await session.listen();
  await session.tool('echo', { text: 'a link' });
  await server.until(() => server.listening === LIST_LINKS + 2);
  server.announce({ method: 'notifications/tasks/status', params: { taskId: 'inner-1', status: 'working' } });
  const taskId = (await stream.message())?.params?.taskId;
  assert.equal(typeof taskId, 'string');
  assert.notEqual(taskId, 'inner-1');
  const params = { message: 'Go on?', _meta: { [RELATED]: { taskId: 'inner-1' } } };
  server.announce({ id: 'q', method: 'elicitation/create', params });
  const question = await stream.message();
  assert.equal(relatedTo(question?.params), taskId, 'one task, one id');
  const _meta = { [RELATED]: { taskId } };
  await session.respond(question?.id, { result: { action: 'accept', _meta } });
  // The shared link was asked too, and has refused.
  const answered = await server.request(({ message }) => message?.result !== undefined);
  assert.equal(relatedTo(answered.message?.result), 'inner-1');
  await session.notify('notifications/progress', { progressToken: 1, progress: 1, _meta });
  const progressed = await server.request('notifications/progress');
  assert.equal(relatedTo(progressed.message?.params), 'inner-1');
  await session.ask('tasks/get', { taskId });
  assert.equal((await server.request('tasks/get')).message?.params?.taskId, 'inner-1');
  const foreign = await session.ask('tasks/get', { taskId: 'inner-1' });
  assert.equal(foreign.error?.code, -32602);
  stream.abort();
});

test('what a task asks goes out where its result is waited for, whatever else is in flight', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { persona: { capabilities: CAPABILITIES } });
  await using session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
  await session.tool('echo', { text: 'a link' });
  await server.until(() => server.listening === LIST_LINKS + 2);
  const other = session.start('tools/call', { name: 'never', arguments: {} }, { id: '"other"' });
  await server.request('tools/call:never');
  const params = { message: 'Go on?', _meta: { [RELATED]: { taskId: 'inner-1' } } };
  server.announce({ id: 'q', method: 'elicitation/create', params });
  const early = await (await other.answer).message();
  const taskId = relatedTo(early?.params);
  assert.equal(
    typeof taskId,
    'string',
    'nobody waits for the result yet, so the only call that may ask has it',
  );
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  server.fault('tasks/result', { holdUntil: held });
  const waiting = session.start('tasks/result', { taskId }, { id: '"result"' });
  await server.request('tasks/result');
  server.announce({ id: 'q2', method: 'elicitation/create', params: { ...params, message: 'And now?' } });
  const question = await (await waiting.answer).message();
  assert.equal(question?.params?.message, 'And now?');
  await session.respond(question?.id, { result: { action: 'accept' } });
  const answered = await server.request(({ message }) => message?.id === 'q2' && 'result' in message);
  assert.deepEqual(answered.message?.result, { action: 'accept' });
  release();
  other.abort();
});
