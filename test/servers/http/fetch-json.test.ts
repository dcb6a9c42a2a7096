// Requests for JSON documents of issuers: bounded in every direction, through the configured proxy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createFetchJson } from '../../../src/servers/http/fetch-json.ts';
import { createOutbound, type OutboundConfig } from '../../../src/servers/http/outbound.ts';
import { startHttpProxy } from '../../support/http-proxy.ts';

const { signal } = new AbortController();

async function startServer(t: TestContext, handler: RequestListener) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/document?x=1` };
}

function fetchJsonFor(t: TestContext, config: Partial<OutboundConfig> = {}) {
  const outbound = createOutbound({ proxy: undefined, ca: undefined, ...config });
  t.after(() => outbound.close());
  return createFetchJson(outbound);
}

test('a document is asked for by GET, a form is sent by POST', async (t) => {
  const { url } = await startServer(t, async (request, response) => {
    const { method, url: path, headers } = request;
    const { accept, authorization, 'content-type': type } = headers;
    response.end(JSON.stringify({ method, path, accept, authorization, type, body: await text(request) }));
  });
  const fetchJson = fetchJsonFor(t);
  assert.deepEqual(await fetchJson({ url, signal }), {
    status: 200,
    body: { method: 'GET', path: '/document?x=1', accept: 'application/json', body: '' },
  });
  const form = { token: 'a b&c=d' };
  const { body } = await fetchJson({ url, form, headers: { authorization: 'Basic x' }, signal });
  assert.deepEqual(body, {
    method: 'POST',
    path: '/document?x=1',
    accept: 'application/json',
    authorization: 'Basic x',
    type: 'application/x-www-form-urlencoded',
    body: 'token=a+b%26c%3Dd',
  });
});

test('what is no JSON object is no body; a redirect is an answer, and is not followed', async (t) => {
  const answers = ['[]', '"x"', 'null', '', '<html>', '{"a":1'];
  const { url } = await startServer(t, (_request, response) => {
    const answer = answers.shift();
    if (answer === undefined) response.writeHead(302, { location: '/elsewhere' }).end();
    else response.end(answer);
  });
  const fetchJson = fetchJsonFor(t);
  for (const _ of [...answers])
    assert.deepEqual(await fetchJson({ url, signal }), { status: 200, body: undefined });
  assert.deepEqual(await fetchJson({ url, signal }), { status: 302, body: undefined });
});

test('an answer without an end is cut off, and so is one that never begins', async (t) => {
  const endless = await startServer(t, (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  const fetchJson = fetchJsonFor(t);
  await assert.rejects(fetchJson({ url: endless.url, signal }), /larger than/);
  const silent = await startServer(t, () => {});
  await assert.rejects(fetchJson({ url: silent.url, signal: AbortSignal.timeout(50) }), {
    name: 'TimeoutError',
  });
});

test('only http and https are fetched', async (t) => {
  const fetchJson = fetchJsonFor(t);
  for (const url of [
    'file:///etc/passwd',
    'data:application/json,{}',
    'ftp://127.0.0.1/',
    'nonsense',
    'http://',
  ]) {
    await assert.rejects(fetchJson({ url, signal }), /not an http/, url);
  }
});

test('the configured proxy is used', async (t) => {
  const { port } = await startServer(t, (_request, response) => response.end('{"through":"proxy"}'));
  const proxy = await startHttpProxy(t, { 'idp.example': port });
  const fetchJson = fetchJsonFor(t, { proxy: proxy.url });
  assert.deepEqual((await fetchJson({ url: 'http://idp.example/keys', signal })).body, { through: 'proxy' });
  assert.equal(proxy.seen.length, 1);
  assert.match(proxy.seen[0] ?? '', /idp\.example/);
});
