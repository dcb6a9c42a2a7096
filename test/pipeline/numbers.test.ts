// Numbers that a double cannot hold arrive as they were sent, through both wires, in both directions and both eras.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { temporaryFolder } from '../support/server-rig.ts';
import { startGateway } from '../support/start-gateway.ts';

const TEXTS = [
  '9007199254740993',
  '123456789012345678901234567890',
  '1.0',
  '1.10',
  '-0.0',
  '-0',
  '1e400',
  '1E+2',
  '0.1000000000000000055511151231257827',
];
const NUMBERS = `[${TEXTS.join(',')}]`;
/** The same, for JSON.stringify to write digit by digit. */
const VALUES = TEXTS.map((text) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text));

/** Answers every call with the line that brought it, and with numbers of its own. */
const ECHO_SERVER = `
let rest = '';
const complete = process.argv[2] === 'modern' ? '"resultType":"complete","ttlMs":0,"cacheScope":"private",' : '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',' + answer(method, line) + '}\\n');
  }
});
process.stdin.on('end', () => process.exit(0));
function answer(method, line) {
  const info = '"capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}';
  if (method === 'server/discover' && complete) return '"result":{' + complete + '"supportedVersions":["2026-07-28"],' + info + '}';
  if (method === 'initialize') return '"result":{"protocolVersion":"2025-11-25",' + info + '}';
  if (method === 'tools/list') return '"result":{' + complete + '"tools":[{"name":"echo","inputSchema":{"type":"object","examples":${NUMBERS}}}]}';
  if (method !== 'tools/call') return '"error":{"code":-32601,"message":"no"}';
  return '"result":{' + complete + '"content":[{"type":"text","text":' + JSON.stringify(line) + '}],"structuredContent":{"n":${NUMBERS}}}';
}
`;

type Caller = ModernClient | RawSession;
const CALLERS: readonly [string, (url: string) => Promise<Caller>][] = [
  ['modern', async (url) => new ModernClient(url)],
  ['legacy', (url) => openSession(url)],
];

async function echoServer(t: TestContext, era: string) {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'echo.mjs'), ECHO_SERVER);
  const args = [join(folder, 'echo.mjs'), era];
  const gateway = await startGateway({ stdio: { args, isolation: 'shared' } });
  t.after(() => gateway.close());
  return gateway;
}

for (const [kind, connect] of CALLERS) {
  for (const era of ['legacy', 'modern']) {
    test(`a ${kind} client and a ${era} child: arguments and results, digit by digit`, async (t) => {
      const gateway = await echoServer(t, era);
      await using caller = await connect(gateway.url);
      const params = { name: 'echo', arguments: { n: VALUES } };
      const text = await (
        await caller.start('tools/call', params, { meta: { own: VALUES[0] } }).answer
      ).text();
      const { result } = JSON.parse(text) as { result: { content: { text: string }[] } };
      assert.ok(result.content[0]?.text.includes(`"arguments":{"n":${NUMBERS}}`), result.content[0]?.text);
      assert.ok(result.content[0]?.text.includes(`"own":${TEXTS[0]}`));
      assert.ok(text.includes(`"structuredContent":{"n":${NUMBERS}}`), text);
      const list = await (await caller.start('tools/list').answer).text();
      assert.ok(list.includes(`"examples":${NUMBERS}`), list);
    });

    test(`a ${kind} client and a ${era} HTTP server: arguments and results, digit by digit`, async (t) => {
      const items = [{ name: 'echo', inputSchema: { type: 'object', examples: VALUES } }];
      const persona = { toolPages: { '': { items } } };
      const { gateway, server } = await legacyHttpBehind(t, { era: era as 'legacy' | 'modern', persona });
      await using caller = await connect(gateway.url);
      const list = await (await caller.start('tools/list').answer).text();
      assert.ok(list.includes(`"examples":${NUMBERS}`), list);
      const params = { name: 'echo', arguments: { text: 'x', n: VALUES } };
      await (await caller.start('tools/call', params).answer).text();
      assert.ok(server.requests('tools/call')[0]?.body.includes(`"n":${NUMBERS}`));
    });
  }
}

test('an id that is written with escapes goes back as it was written, and a cancellation may write it plainly', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  const id = String.raw`"\u0041\/b"`;
  for (const connect of [(url: string) => new ModernClient(url), openSession]) {
    await using caller = await connect(gateway.url);
    const params = { name: 'echo', arguments: { text: 'x' } };
    const answer = await (await caller.start('tools/call', params, { id }).answer).text();
    assert.ok(answer.includes(`"id":${id}`), answer);
    const unknown = await (await caller.start('no/such', {}, { id }).answer).text();
    assert.ok(unknown.includes(`"id":${id}`), unknown);
  }
  await using session = await openSession(gateway.url);
  const call = session.start('tools/call', { name: 'never', arguments: {} }, { id });
  await server.request('tools/call:never');
  await session.notify('notifications/cancelled', { requestId: 'A/b' });
  await server.until(() => server.cancelled.length === 1);
  await (await call.answer).text();
});

test("a server's question has its own id again when it is answered, digit by digit", async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  await session.tool('echo', { text: 'a link of its own' });
  await server.until(() => server.listening === LIST_LINKS + 1);
  const [id] = VALUES;
  server.announce({ id: id as number, method: 'ping' });
  const answers = () => server.received.filter(({ body }) => body.includes(`"id":${TEXTS[0]},"result"`));
  await server.until(() => answers().length === 2);
});
