import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { test } from 'node:test';
import { answerWithin } from '../../src/state/answer-within.ts';

const late = () => new Error('late');

test('hands on an answer, and a failure', async () => {
  assert.equal(await answerWithin(Promise.resolve(1), 1_000, late), 1);
  await assert.rejects(answerWithin(Promise.reject(new Error('refused')), 1_000, late), /refused/);
});

test('gives up after the time, and does not mind what comes later', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const begun = performance.now();
  await assert.rejects(answerWithin(promise, 20, late), /late/);
  assert.ok(performance.now() - begun < 5_000);
  reject(new Error('nobody listens any more'));
  await new Promise(setImmediate);
});

test('F55: an answer that lies in the socket while the process was busy is in time', async (t) => {
  // The server runs in this process too: it answers, and then keeps everybody busy for longer than the time allows.
  const server = createServer((socket) =>
    socket.on('data', (question) => {
      socket.end(question);
      const until = performance.now() + 60;
      while (performance.now() < until);
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const client = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
  const answer = once(client, 'data');
  client.write('question');
  const [bytes] = await answerWithin(answer, 30, late);
  assert.equal(String(bytes), 'question');
});
