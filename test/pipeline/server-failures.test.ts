// What a client sees of a server that fails: an error that carries its id, soon, and nothing of the server's own words.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, requestText, textOf } from '../support/raw-session.ts';
import { LIST_LINKS, PROCESSES } from '../support/replicas-wanted.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../support/start-gateway.ts';

async function started(t: TestContext, options: StartOptions): Promise<StartedGateway> {
  const gateway = await startGateway(options);
  t.after(() => gateway.close());
  return gateway;
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'x', version: '1' },
};
/** What the faulty server says on stderr before it exits. */
const ITS_WORDS = /settings|hunter2|nowhere|ENOENT|EACCES|127\.0\.0\.1|\bat \//;

describe('a server that does not start', () => {
  const BAD: readonly [string, NonNullable<StartOptions['stdio']>][] = [
    ['exits before it answers', { switches: ['--exit-at-start'] }],
    ['is missing', { command: '/nowhere/mcp-server' }],
    ['may not be executed', { command: '/etc/hostname' }],
    ['is legacy where modern was demanded', { switches: ['--era=legacy'], protocol: 'modern' }],
    ['is modern where legacy was demanded', { switches: ['--era=modern'], protocol: 'legacy' }],
  ];
  for (const [what, stdio] of BAD) {
    test(`F08: a server that ${what} is an error with the request's id, at once`, async (t) => {
      const gateway = await started(t, { stdio });
      await using modern = new ModernClient(gateway.url);
      const startedAt = performance.now();
      const called = await modern.ask('tools/call', { name: 'echo', arguments: {} }, { id: '"mine"' });
      assert.equal(called.id, 'mine');
      assert.equal(called.error?.code, 5020);
      assert.doesNotMatch(JSON.stringify(called), ITS_WORDS);
      const discovered = await modern.ask('server/discover', {}, { id: '5' });
      assert.deepEqual([discovered.id, discovered.error?.code], [5, 5020]);
      await using legacy = new RawClient(gateway.url);
      const answer = await legacy.send({ body: requestText('"hello"', 'initialize', INITIALIZE) });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['mcp-session-id'], undefined);
      const { id, error } = await answer.json();
      assert.deepEqual([id, error?.code], ['hello', 5020]);
      // Two children at most, and the backoff between them; a start timeout would be ten seconds.
      assert.ok(performance.now() - startedAt < 6_000);
      assert.equal((await gateway.status()).sessions, 0);
    });
  }

  test('F08: the words of the operator say why; they name the command, and mask what looks like a secret', async (t) => {
    const gateway = await started(t, { stdio: { switches: ['--exit-at-start'] } });
    const line = await gateway.logged(({ stderr }) => typeof stderr === 'string' && stderr !== '');
    assert.match(String(line.stderr), /cannot read my settings/);
    assert.doesNotMatch(JSON.stringify(gateway.logs), /hunter2/);
  });

  test('F28: lists and calls are errors while it is down, and work as soon as it is up', async (t) => {
    const server = await startFaultyHttpServer({ era: 'modern' });
    const mend = server.fault(() => true, { reset: 'at-once' });
    const gateway = await startGateway({ http: { url: server.url } });
    t.after(async () => {
      await gateway.close();
      await server.close();
    });
    await using client = new ModernClient(gateway.url);
    for (const method of ['tools/list', 'resources/list', 'server/discover']) {
      assert.equal((await client.ask(method)).error?.code, 5020);
    }
    mend();
    let listed = await client.ask('tools/list');
    await eventually('the server is reached', async () => {
      listed = await client.ask('tools/list');
      return listed.result !== undefined;
    });
    assert.equal(await client.tool('echo', { text: 'up' }), 'up');
    assert.equal((await gateway.status()).servers.faulty?.lastError, null, 'F11: no flag is left');
  });
});

describe('a server that dies', () => {
  for (const era of ['legacy', 'modern'] as const) {
    test(`F09: a ${era} child killed with three calls in flight: each fails once, and the next call works`, async (t) => {
      const gateway = await started(t, { stdio: { switches: [`--era=${era}`], isolation: 'shared' } });
      await using client = new ModernClient(gateway.url);
      await client.tool('echo', { text: 'up' });
      const calls = ['1', '2', '3'].map(async (id) => {
        const answer = await client.start('tools/call', { name: 'never', arguments: {} }, { id }).answer;
        return answer.isStream ? await answer.messages() : [await answer.json()];
      });
      const inFlight = async () => (await gateway.status()).servers.faulty?.inFlight;
      await eventually('three calls are in flight', async () => (await inFlight()) === 3);
      const killedAt = performance.now();
      for (const child of gateway.children()) process.kill(child, 'SIGKILL');
      for (const [index, messages] of (await Promise.all(calls)).entries()) {
        assert.equal(messages.length, 1);
        assert.deepEqual([messages[0]?.id, messages[0]?.error?.code], [index + 1, 5020]);
        assert.equal(messages[0]?.result, undefined);
      }
      assert.ok(performance.now() - killedAt < 2_000);
      for (let turn = 0; turn < PROCESSES; turn += 1) {
        assert.equal(await client.tool('echo', { text: 'again' }), 'again');
      }
      assert.equal(gateway.children().length, LIST_LINKS);
    });
  }

  test('F09: a child that answers one call and exits serves the next one with a new child', async (t) => {
    const gateway = await started(t, { stdio: { switches: ['--exit-after=1'], isolation: 'shared' } });
    await using client = new ModernClient(gateway.url);
    const starts = async () => Number((await gateway.status()).servers.faulty?.starts);
    const before = await starts();
    assert.equal(await client.tool('echo', { text: 'one' }), 'one');
    // Until its exit is noticed, a call is written to a child that will never read it.
    await eventually('a new child was started', async () => (await starts()) > before);
    assert.equal(await client.tool('echo', { text: 'two' }), 'two');
  });

  test('F08: once the stream is open, the failure is its last event', async (t) => {
    const gateway = await started(t, { stdio: { switches: ['--era=legacy'] } });
    await using session = await openSession(gateway.url);
    const headers = { accept: 'text/event-stream' };
    const answer = await session.start(
      'tools/call',
      { name: 'never', arguments: {} },
      { id: '"it"', headers },
    ).answer;
    assert.ok((await answer.event())?.id, 'it is open');
    const other = await session.ask('tools/call', { name: 'crash', arguments: {} });
    assert.equal(other.error?.code, 5020);
    const messages = await answer.messages();
    assert.deepEqual([messages.length, messages[0]?.id, messages[0]?.error?.code], [1, 'it', 5020]);
  });

  test('F09: it is not called again behind the back of its caller', async (t) => {
    const gateway = await started(t, { stdio: { switches: ['--era=legacy'] } });
    await using session = await openSession(gateway.url);
    const before = Number((await gateway.status()).servers.faulty?.starts);
    assert.equal((await session.ask('tools/call', { name: 'crash', arguments: {} })).error?.code, 5020);
    assert.equal(await session.tool('echo', { text: 'next' }), 'next');
    assert.equal((await gateway.status()).servers.faulty?.starts, before + 2);
  });
});

describe('an HTTP server that forgets', () => {
  const FORGOTTEN: readonly [string, { status: number; body: string }][] = [
    ['404', { status: 404, body: '' }],
    [
      '404 with an error',
      {
        status: 404,
        body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
      },
    ],
    ['400 with words about it', { status: 400, body: 'Bad Request: No valid session ID provided' }],
  ];
  for (const [what, lostSession] of FORGOTTEN) {
    test(`F03: says so with ${what}: the call is made on a new session, once`, async (t) => {
      const { gateway, server } = await legacyHttpBehind(t);
      server.lostSession = lostSession;
      await using session = await openSession(gateway.url);
      assert.equal(await session.tool('echo', { text: 'before' }), 'before');
      server.forgetSessions();
      const initialized = server.requests('initialize').length;
      const texts = ['a', 'b', 'c'];
      assert.deepEqual(await Promise.all(texts.map((text) => session.tool('echo', { text }))), texts);
      const again = server.requests('initialize').length - initialized;
      assert.ok(again >= 1 && again <= 2, `${again}: one for the session, one for the lists`);
      assert.equal(await session.delete(), 204, 'the client has kept its own');
    });
  }

  test('F03: says so three times in a row: one call fails, and costs two sessions; the next works', async (t) => {
    const { gateway, server } = await legacyHttpBehind(t);
    await using session = await openSession(gateway.url);
    assert.equal(await session.tool('echo', { text: 'before' }), 'before');
    const initialized = server.requests('initialize').length;
    server.fault('tools/call', { answer: { status: 404 } }, 3);
    const { error } = await session.ask('tools/call', { name: 'echo', arguments: { text: 'now' } });
    assert.equal(error?.code, 5020);
    assert.equal(await session.tool('echo', { text: 'after' }), 'after');
    assert.equal(server.requests('initialize').length, initialized + 3);
    assert.equal(server.requests('tools/call').length, 5);
  });

  test('F03: says 503: the call fails, the session does not', async (t) => {
    const { gateway, server } = await legacyHttpBehind(t);
    await using session = await openSession(gateway.url);
    await session.tool('echo', { text: 'before' });
    const mend = server.fault('tools/call', { answer: { status: 503, body: 'busy' } });
    const { error } = await session.ask('tools/call', { name: 'echo', arguments: { text: 'now' } });
    assert.equal(error?.code, 5020);
    assert.doesNotMatch(JSON.stringify(error), /busy|503/);
    mend();
    assert.equal(await session.tool('echo', { text: 'after' }), 'after');
  });

  test('F03, F12: sessions that are lost are no failures of the server', async (t) => {
    const { gateway, server } = await legacyHttpBehind(t);
    const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(gateway.url)));
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        sessions.map((session) => session.tool('echo', { text: `${round}` })),
      );
      assert.deepEqual(new Set(answers), new Set([`${round}`]));
      server.forgetSessions();
    }
    const { servers } = await gateway.status();
    assert.deepEqual([servers.faulty?.failures, servers.faulty?.lastError], [0, null]);
  });
});

test('F12, F14: twenty first calls of a server that greets slowly are served by one session, and one for the lists', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await server.request('notifications/initialized');
  server.fault('initialize', { delayMs: 300 });
  await using session = await openSession(gateway.url);
  const texts = Array.from({ length: 20 }, (_, index) => `${index}`);
  assert.deepEqual(await Promise.all(texts.map((text) => session.tool('echo', { text }))), texts);
  assert.equal(server.requests('initialize').length, LIST_LINKS + 1);
});

describe('an HTTP server that talks nonsense', () => {
  const NONSENSE: readonly [
    string,
    Parameters<Awaited<ReturnType<typeof startFaultyHttpServer>>['fault']>[1],
  ][] = [
    ['an HTML page', { answer: { status: 200, type: 'text/html', body: '<h1>Welcome</h1>' } }],
    ['an HTML error', { answer: { status: 502, type: 'text/html', body: '<h1>Bad Gateway</h1>' } }],
    ['an empty answer', { answer: { status: 200, type: 'application/json', body: '' } }],
    ['no JSON', { answer: { status: 200, type: 'application/json', body: '{"jsonrpc":' } }],
    ['a broken connection', { reset: 'at-once' }],
    ['half an answer', { reset: 'mid-body' }],
  ];
  for (const [what, fault] of NONSENSE) {
    test(`F28: ${what} is one clear error`, async (t) => {
      const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
      await using client = new ModernClient(gateway.url);
      await client.tool('echo', { text: 'well' });
      const mend = server.fault('tools/call', fault);
      const answer = await client.ask(
        'tools/call',
        { name: 'echo', arguments: { text: 'x' } },
        { id: '"it"' },
      );
      assert.deepEqual([answer.id, answer.error?.code], ['it', 5020]);
      assert.doesNotMatch(JSON.stringify(answer), /<h1>|Gateway|Welcome/);
      mend();
      assert.equal(await client.tool('echo', { text: 'well again' }), 'well again');
    });
  }

  test("the server's own 429 is told as such, with its time", async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
    await using client = new ModernClient(gateway.url);
    await client.tool('echo', { text: 'well' });
    server.fault('tools/call', { answer: { status: 429, headers: { 'retry-after': '7' } } });
    const { error } = await client.ask('tools/call', { name: 'echo', arguments: {} });
    assert.deepEqual([error?.code, error?.data], [4290, { retryAfterMs: 7_000 }]);
  });

  test('an error of the server itself passes as it is', async (t) => {
    const { gateway } = await legacyHttpBehind(t, { era: 'both' });
    await using client = new ModernClient(gateway.url);
    for (const code of [-32603, -32602, 42, -1]) {
      const { error } = await client.ask('tools/call', { name: 'protocol-error', arguments: { code } });
      assert.deepEqual(error, { code, message: 'as you wish' });
    }
  });

  test('a tool that the server does not have is not asked for, whatever the case of its name', async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era: 'both' });
    await using client = new ModernClient(gateway.url);
    await client.tool('echo', { text: 'well' });
    for (const name of ['nothing', 'Echo', 'echo-']) {
      const { error } = await client.ask('tools/call', { name, arguments: {} });
      assert.deepEqual([error?.code, error?.message], [-32602, 'Unknown tool']);
    }
    assert.equal(server.requests('tools/call').length, 1);
    assert.equal(textOf(await client.ask('tools/call', { name: 'echo', arguments: { text: 'y' } })), 'y');
  });
});
