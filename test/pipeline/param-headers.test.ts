// Tool arguments that a schema wants in headers too: checked on the client's leg, made anew on the server's (F33, F35).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';

const marked = (name: string, annotation: unknown = 'Region') => ({
  name,
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': annotation }, text: { type: 'string' } },
  },
});
const items = [marked('headers'), marked('echo'), marked('broken', 'not a token')];

async function behind(t: TestContext, era: 'legacy' | 'modern') {
  const { gateway, server } = await legacyHttpBehind(t, { era, persona: { toolPages: { '': { items } } } });
  const client = new ModernClient(gateway.url);
  t.after(() => client[Symbol.asyncDispose]());
  return { gateway, server, client };
}

for (const region of ['eu', 'Zürich 🌍', ' padded ', '=?base64?eA==?=', '']) {
  test(`F35: ${JSON.stringify(region)} travels upstream in its own header, encoded where it must be`, async (t) => {
    const { client, server } = await behind(t, 'modern');
    const encoded = `=?base64?${Buffer.from(region).toString('base64')}?=`;
    const headers = { 'mcp-param-region': encoded };
    await client.tool('headers', { region }, { headers });
    const sent = String(server.requests('tools/call')[0]?.headers['mcp-param-region']);
    const plain = /^=\?base64\?(.*)\?=$/.exec(sent)?.[1];
    assert.equal(plain === undefined ? sent : Buffer.from(plain, 'base64').toString(), region);
  });
}

test('F34: a header that is missing, or differs from the argument, is refused before the server sees it', async (t) => {
  const { client, server } = await behind(t, 'modern');
  const wrong: readonly Record<string, string>[] = [
    {},
    { 'mcp-param-region': 'us' },
    { 'mcp-param-region': 'EU' },
  ];
  for (const headers of wrong) {
    const started = client.start('tools/call', { name: 'headers', arguments: { region: 'eu' } }, { headers });
    const answer = await started.answer;
    assert.equal(answer.status, 400);
    assert.equal((await answer.json()).error?.code, -32020);
  }
  const unasked = await client.ask(
    'tools/call',
    { name: 'headers', arguments: {} },
    { headers: { 'mcp-param-region': 'eu' } },
  );
  assert.equal(unasked.error?.code, -32020);
  assert.equal(server.requests('tools/call').length, 0);
});

test('F33: headers of one leg do not reach the other', async (t) => {
  const { client, server } = await behind(t, 'modern');
  const headers = {
    'mcp-param-region': 'eu',
    authorization: 'Bearer of-the-client',
    cookie: 'a=b',
    'mcp-session-id': 'of-the-client',
    'last-event-id': '7',
    'x-anything': 'else',
  };
  await client.tool('headers', { region: 'eu' }, { headers });
  const sent = server.requests('tools/call')[0]?.headers ?? {};
  for (const name of ['authorization', 'cookie', 'mcp-session-id', 'last-event-id', 'x-anything'])
    assert.equal(sent[name], undefined, name);
  assert.equal(sent['mcp-name'], 'headers');
});

test('F33: toward a legacy server there are none of the newer revision, and its own version', async (t) => {
  const { client, server } = await behind(t, 'legacy');
  await client.tool('headers', { region: 'eu' }, { headers: { 'mcp-param-region': 'eu' } });
  const sent = server.requests('tools/call')[0]?.headers ?? {};
  assert.equal(sent['mcp-protocol-version'], '2025-11-25');
  for (const name of ['mcp-method', 'mcp-name', 'mcp-param-region']) assert.equal(sent[name], undefined);
});

test('F35: a legacy client knows nothing of it; the headers upstream are made all the same', async (t) => {
  const { gateway, server } = await behind(t, 'modern');
  await using session = await openSession(gateway.url);
  await session.tool('headers', { region: 'eu' });
  const sent = server.requests('tools/call')[0]?.headers ?? {};
  assert.deepEqual([sent['mcp-param-region'], sent['mcp-protocol-version']], ['eu', '2026-07-28']);
});

test('F35: a tool whose annotation breaks the rules is left out, cannot be called, and is reported once', async (t) => {
  const { client, gateway } = await behind(t, 'modern');
  const tools = (await client.ask('tools/list')).result?.tools as { name: string }[];
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['headers', 'echo'],
  );
  const called = await client.ask('tools/call', { name: 'broken', arguments: {} });
  assert.deepEqual([called.error?.code, called.error?.message], [-32602, 'Unknown tool']);
  const warnings = gateway.logs.filter(({ tool }) => tool === 'broken');
  assert.ok(warnings.length >= 1 && warnings.length <= PROCESSES, `${warnings.length}`);
  const [server] = Object.values((await gateway.status()).servers);
  assert.deepEqual(server?.unusableTools, { broken: warnings[0]?.problem });
});

test('F35: a server that wants other headers since it changed its schema is asked for it again', async (t) => {
  const { client, server } = await behind(t, 'modern');
  await client.tool('echo', { region: 'eu', text: 'before' }, { headers: { 'mcp-param-region': 'eu' } });
  const error = { code: -32020, message: 'Mcp-Param-Zone is missing' };
  server.fault(
    'tools/call',
    {
      answer: {
        status: 400,
        type: 'application/json',
        body: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
      },
    },
    1,
  );
  server.persona = { ...server.persona, toolPages: { '': { items: [marked('echo', 'Zone')] } } };
  const headers = { 'mcp-param-region': 'eu', 'mcp-param-zone': 'eu' };
  assert.equal(await client.tool('echo', { region: 'eu', text: 'after' }, { headers }), 'after');
  assert.equal(server.requests('tools/call').at(-1)?.headers['mcp-param-zone'], 'eu');
});
