import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAccept } from '../../src/http/accept-header.ts';
import { post, startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const BOTH = { json: true, events: true };
const JSON_ONLY = { json: true, events: false };
const EVENTS_ONLY = { json: false, events: true };
const NEITHER = { json: false, events: false };

const READINGS: readonly (readonly [string | undefined, { json: boolean; events: boolean }])[] = [
  [undefined, BOTH],
  ['', BOTH],
  ['*/*', BOTH],
  ['application/json, text/event-stream', BOTH],
  ['text/event-stream,application/json', BOTH],
  ['  Text/Event-Stream ;q=0.5 ,\tAPPLICATION/JSON', BOTH],
  ['application/json; charset=utf-8, text/event-stream; q=0.1', BOTH],
  ['application/*', JSON_ONLY],
  ['application/json', JSON_ONLY],
  ['application/json, text/event-stream;q=0', JSON_ONLY],
  ['*/*, text/event-stream;q=0.0', JSON_ONLY],
  ['*/*, text/*;q=0', JSON_ONLY],
  ['text/event-stream', EVENTS_ONLY],
  ['text/*', EVENTS_ONLY],
  ['application/json;q=0, */*', EVENTS_ONLY],
  ['application/json;q=0, application/*, text/*', EVENTS_ONLY],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', BOTH],
  ['application/json;q=nonsense', JSON_ONLY],
  ['text/html', NEITHER],
  ['*/*;q=0', NEITHER],
  ['application/json;Q=0', NEITHER],
  ['application/jsonp, text/event-streams', NEITHER],
  [',', NEITHER],
];

for (const [header, expected] of READINGS) {
  test(`F38: Accept ${header === undefined ? 'absent' : JSON.stringify(header)}`, () => {
    const { json, events } = readAccept(header);
    assert.deepEqual({ json, events }, expected);
  });
}

test('a client that names the event stream first, at no lower weight, would rather have one', () => {
  for (const header of [
    'text/event-stream, application/json',
    'text/event-stream',
    'text/event-stream;q=0.5, */*;q=0.5',
  ]) {
    assert.equal(readAccept(header).prefersEvents, true, header);
  }
  for (const header of [
    undefined,
    '*/*',
    'application/json, text/event-stream',
    'text/event-stream;q=0.5, application/json',
  ]) {
    assert.equal(readAccept(header).prefersEvents, false, header);
  }
});

test('F38: only an Accept that can match neither type is refused', async (t) => {
  const { url } = await startEdge(t);
  const refused = await post(`${url}/mcp`, '{}', { Accept: 'text/html' });
  assert.equal(refused.status, 406);
  assert.deepEqual(await refused.json(), {
    jsonrpc: '2.0',
    error: { code: -32600, message: 'Accept must allow application/json or text/event-stream' },
  });
  assert.equal((await post(`${url}/mcp`, '{}', { Accept: '*/*' })).status, 200);
});

test('F38: two Accept lines count as one list', async (t) => {
  const { port } = await startEdge(t, {
    handle: ({ reply }) =>
      reply.respond('1', { result: { json: reply.accepts.json, events: reply.accepts.events } }),
  });
  const client = await RawClient.open(t, port);
  client.send(
    head('POST /mcp HTTP/1.1', 'Accept: text/html', 'Accept: text/event-stream', 'Content-Length: 2'),
  );
  const answer = await client.send('{}').until('}}\n\n');
  assert.match(answer, /^Content-Type: text\/event-stream\r$/m);
  assert.match(answer, /"result":\{"json":false,"events":true\}/);
});

test('F38: JSON alone is answered in JSON, an event stream alone in events', async (t) => {
  const { url } = await startEdge(t);
  const json = await post(`${url}/mcp`, '{}', { Accept: 'application/json' });
  assert.equal(json.headers.get('content-type'), 'application/json');
  const events = await post(`${url}/mcp`, '{}', { Accept: 'text/event-stream' });
  assert.equal(events.headers.get('content-type'), 'text/event-stream');
  assert.match(await events.text(), /^: keep-alive\n\ndata: \{"jsonrpc":"2.0","id":1,"result".*\}\n\n$/);
});
