import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { readBody, takeBody } from '../../src/http/read-body.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { head } from './raw-client.ts';

test('whoever left before the body was asked for is not waited for', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`${head('POST /mcp HTTP/1.1', 'Content-Length: 9')}half`);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  client.destroy();
  await once(response, 'close');
  const limits = { maxBytes: 100, hold: new BufferBudget(100).open() };
  assert.equal(takeBody(request, limits), undefined);
  await assert.rejects(readBody(request, response, limits), {
    code: 'request-malformed',
    details: { reason: 'client_left' },
  });
});
