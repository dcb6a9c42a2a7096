// HTTP servers that fail: what the caller is told, and that nobody waits for ever.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { Agent } from 'undici';
import { GatewayError } from '../../../src/errors.ts';
import { UpstreamHttpError } from '../../../src/servers/http/upstream-http-error.ts';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import type { HttpFault } from '../../support/faulty-http-replies.ts';
import { failure, legacyRig, modernMeta, modernRig } from '../../support/http-rig.ts';

const eras = { modern: modernRig, legacy: legacyRig } as const;
const html = '<!doctype html><title>Sign in</title>';
const rpcError = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32022, message: 'no', data: { supported: [] } } });

for (const [era, openLeg] of Object.entries(eras)) {
  test(`a JSON-RPC error in the body of a 4xx or 5xx is the server's answer (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const status of [400, 409, 422, 500, 502, 503]) {
      for (const id of [null, undefined, 'server-error', 1]) {
        const answer = { status, type: 'application/json', body: rpcError(id) };
        rig.server.fault('tools/call', { answer }, 1);
        assert.deepEqual(await rig.tool('echo'), {
          error: { code: -32022, message: 'no', data: { supported: [] } },
        });
      }
    }
  });

  test(`F28: a status without such a body is a failure that knows the status (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const status of [400, 405, 410, 418, 500, 502, 503, 504]) {
      for (const [type, body] of [
        ['text/html', html],
        ['application/json', '{"error":"nope"}'],
        ['application/json', 'broken {'],
        ['application/json', ''],
      ] as const) {
        rig.server.fault('tools/call', { answer: { status, type, body } }, 1);
        await assert.rejects(rig.tool('echo'), (thrown) => {
          assert.ok(failure('server-unavailable', 'http-status')(thrown));
          const { cause } = thrown as GatewayError;
          assert.ok(cause instanceof UpstreamHttpError && cause.status === status);
          return true;
        });
      }
    }
    assert.equal(await rig.text('echo', { text: 'well again' }), 'well again');
  });

  test(`a 401 or 403 is our credential's failure, and its challenge stays here (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const status of [401, 403]) {
      const headers = { 'www-authenticate': 'Bearer resource_metadata="https://elsewhere.example/"' };
      const answer = { status, headers, type: 'application/json', body: rpcError(null) };
      rig.server.fault('tools/call', { answer }, 1);
      await assert.rejects(rig.tool('echo'), (thrown) => {
        assert.ok(thrown instanceof GatewayError && thrown.code === 'credential-refused');
        assert.ok(thrown.cause instanceof UpstreamHttpError && thrown.cause.status === status);
        assert.ok(!JSON.stringify([thrown, thrown.message, thrown.details]).includes('elsewhere'));
        return true;
      });
    }
  });

  test(`a 429 says when to come back (${era})`, async (t) => {
    const rig = await openLeg(t);
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    for (const [retryAfter, atLeast, atMost] of [
      ['7', 7_000, 7_000],
      [inTenSeconds, 8_000, 10_000],
      ['soon', 1_000, 1_000],
      ['999999999', 3_600_000, 3_600_000],
      [undefined, 1_000, 1_000],
    ] as const) {
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      rig.server.fault('tools/call', { answer: { status: 429, headers } }, 1);
      await assert.rejects(rig.tool('echo'), (thrown) => {
        assert.ok(thrown instanceof GatewayError && thrown.code === 'server-rate-limited');
        const { retryAfterMs = -1, data } = thrown.details;
        assert.ok(
          retryAfterMs >= atLeast && retryAfterMs <= atMost,
          `${retryAfter} was read as ${retryAfterMs}`,
        );
        assert.deepEqual(data, { retryAfterMs });
        return true;
      });
    }
  });

  const unusable: [name: string, fault: HttpFault, reason: string][] = [
    ['HTML', { answer: { status: 200, type: 'text/html', body: html } }, 'media-type'],
    [
      'HTML that claims to be JSON',
      { answer: { status: 200, type: 'application/json', body: html } },
      'no-response',
    ],
    ['an empty body', { answer: { status: 200, type: 'application/json' } }, 'no-response'],
    ['202 to a request', { answer: { status: 202 } }, 'no-response'],
    ['null', { answer: { status: 200, type: 'application/json', body: 'null' } }, 'no-response'],
    ['a compressed body', { contentEncoding: 'gzip' }, 'media-type'],
    ['a connection that breaks at once', { reset: 'at-once' }, 'connection-lost'],
    ['a connection that breaks in the body', { reset: 'mid-body' }, 'connection-lost'],
    ['a stream that breaks in an event', { framing: 'events', reset: 'mid-body' }, 'connection-lost'],
    ['a stream that ends early', { framing: 'events', cutAfter: 1, strays: true }, 'no-response'],
    ['a last event without its end', { framing: 'events', spelling: { unfinished: true } }, 'no-response'],
  ];
  for (const [name, fault, reason] of unusable) {
    test(`F28: ${name} is a failure of the server (${era})`, async (t) => {
      const rig = await openLeg(t);
      rig.server.fault('tools/call:echo', fault, 1);
      await assert.rejects(rig.tool('echo'), failure('server-unavailable', reason));
      assert.equal(await rig.text('echo', { text: 'well again' }), 'well again');
      assert.ok(rig.transport.open);
    });
  }

  test(`answers to somebody else, or to nobody, are no answers (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const framing of ['json', 'events'] as const) {
      rig.server.fault('tools/call', { framing });
      await assert.rejects(rig.tool('foreign-id'), failure('server-unavailable', 'no-response'));
      await assert.rejects(rig.tool('bad-answer'), failure('server-unavailable', 'no-response'));
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'unreadable' } });
    rig.server.fault('tools/call', { answer: { status: 200, type: 'application/json', body } });
    assert.deepEqual(await rig.tool('echo'), { error: { code: -32700, message: 'unreadable' } });
  });

  test(`a response that is neither result nor error fails its call at once (${era})`, async (t) => {
    const rig = await openLeg(t);
    const id = rig.server.received.length + (era === 'modern' ? 1 : 0);
    const body = `{"jsonrpc":"2.0","id":${id},"result":null}`;
    rig.server.fault('tools/call', { answer: { status: 200, type: 'application/json', body } });
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'bad-answer'));
  });

  test(`F18: a message over the cap fails its call alone, with JSON and with events (${era})`, async (t) => {
    const rig = await openLeg(t, { config: { maxMessageBytes: 64 * 1024 } });
    for (const fault of [{ framing: 'json' }, { framing: 'events' }] as const) {
      const mend = rig.server.fault('tools/call', fault);
      const other = rig.text('wait', { ms: 100 });
      await assert.rejects(
        rig.tool('big', { bytes: 64 * 1024 }),
        failure('server-unavailable', 'message-too-large'),
      );
      assert.equal((await rig.text('big', { bytes: 60 * 1024 })).length, 60 * 1024);
      assert.equal(await other, 'waited');
      mend();
    }
  });

  test(`F18: an event that never ends is cut off at the cap (${era})`, async (t) => {
    const rig = await openLeg(t, { config: { maxMessageBytes: 256 * 1024 } });
    rig.server.fault('tools/call:echo', { framing: 'events', endless: true }, 1);
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'message-too-large'));
    assert.equal(await (await rig.server.request('tools/call')).ended, 'broken');
  });

  test(`F43: silence, and a body that trickles, last as long as the caller lets them (${era})`, async (t) => {
    const rig = await openLeg(t);
    const silences: HttpFault[] = [
      { stall: 'at-once' },
      { stall: 'after-headers' },
      { stall: 'mid-body' },
      { framing: 'events', stall: 'after-headers' },
      { framing: 'events', stall: 'mid-body' },
      { dripMs: 15 },
    ];
    for (const fault of silences) {
      rig.server.fault('tools/call', fault, 1);
      const deadline = new GatewayError('deadline-passed');
      const stop = new AbortController();
      const call = rig.tool('echo', {}, { signal: stop.signal });
      const request = await rig.server.request('tools/call', rig.server.requests('tools/call').length + 1);
      setTimeout(() => stop.abort(deadline), 40);
      await assert.rejects(call, deadline);
      assert.equal(await request.ended, 'broken');
    }
    rig.server.fault('tools/call', { delayMs: 1_200 }, 1);
    assert.equal(await rig.text('echo', { text: 'late, but in time' }), 'late, but in time');
  });

  test(`F28: a server that refuses the connection fails at once, and is well when it is back (${era})`, async (t) => {
    const rig = await openLeg(t, { sessions: false });
    await rig.server.refuse();
    const startedAt = performance.now();
    // The idle connection of the handshake may be used once more before its end is seen.
    await assert.rejects(rig.tool('echo'), (thrown) => thrown instanceof GatewayError);
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'connect-failed'));
    assert.ok(performance.now() - startedAt < 5_000);
    await rig.server.listen();
    assert.equal(await rig.text('echo', { text: 'back' }), 'back');
  });
}

test('F28: a server that takes the connection and says nothing is given up with the caller', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  const rig = await modernRig(t, { url: () => `http://127.0.0.1:${address.port}/mcp` });
  await assert.rejects(rig.tool('echo', {}, { signal: AbortSignal.timeout(60) }), { name: 'TimeoutError' });
});

test('an answer whose stream breaks right behind it counts, also where both are here in one piece', async (t) => {
  const abrupt = createServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      const id = /"id":(\d+)/.exec(bytes.toString('latin1'))?.[1];
      const event = `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"in time"}]}}\n\n`;
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
      // What follows is no chunk.
      socket.end(`${head}${event.length.toString(16)}\r\n${event}\r\nzz\r\n`);
    });
  }).listen(0, '127.0.0.1');
  t.after(() => abrupt.close());
  await once(abrupt, 'listening');
  const { port } = abrupt.address() as AddressInfo;
  const rig = await modernRig(t, { url: () => `http://127.0.0.1:${port}/mcp` });
  for (let call = 0; call < 10; call += 1) assert.equal(await rig.text('echo', {}), 'in time');
});

test('F08: names that do not resolve, and URLs without a server, are failures in our words', async (t) => {
  const rig = await modernRig(t, { url: () => 'http://does-not-exist.invalid/mcp' });
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'connect-failed'));
});

test('a notification that the server refuses is a failure; an answer that it refuses is only logged', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('notifications/x', { answer: { status: 500 } });
  rig.server.fault('response', { answer: { status: 400, type: 'application/json', body: rpcError(null) } });
  await assert.rejects(
    rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' }),
    failure('server-unavailable', 'http-status'),
  );
  await rig.transport.respond(1, { result: {} });
  assert.ok(rig.logs.some((line) => line.includes('was not delivered')));
  assert.ok(rig.transport.open);
});

test('a message that cannot be written as JSON fails alone', async (t) => {
  const rig = await modernRig(t);
  let deep = {};
  for (let level = 0; level < 20_000; level += 1) deep = { deep };
  await assert.rejects(rig.tool('echo', deep), failure('params-invalid', undefined));
  assert.equal(await rig.text('echo', { text: 'fine' }), 'fine');
});

test('F41: a request that meets a connection just being closed is sent again if it changes nothing, and only then', async (t) => {
  const rig = await modernRig(t);
  await rig.text('echo', { text: 'opens a connection' });
  rig.server.fault('tools/list', { reset: 'at-once' }, 1);
  assert.ok('result' in (await rig.request('tools/list', { _meta: modernMeta() })));
  assert.equal(rig.server.requests('tools/list').length, 2);
  rig.server.fault('tools/call', { reset: 'at-once' }, 1);
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'connection-lost'));
  assert.equal(rig.server.requests('tools/call').length, 2, 'the broken call was not sent twice');
});

test('F41: connections that a server closes after each answer, without a word, lose no call', async (t) => {
  const rig = await modernRig(t);
  rig.server.fault('tools/call', { reset: 'after-answer' });
  for (let n = 0; n < 30; n += 1) assert.equal(await rig.text('echo', { text: `${n}` }), `${n}`);
});

/** undici keeps its long timeouts on a slow clock of its own, which its own tests put forward. */
const undiciClock = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms: number): void };

test("F43: ten minutes of silence are no business of the HTTP client's: the caller's deadline alone counts", async (t) => {
  const rig = await legacyRig(t);
  const held = Promise.withResolvers<void>();
  rig.server.fault('POST', { holdUntil: held.promise });
  rig.server.fault('tools/call:ask', { holdUntil: Promise.resolve() });
  const questions: (string | number)[] = [];
  const onMessage = (message: ServerMessage) => {
    if ('id' in message) questions.push(message.id);
    rig.server.changed();
  };
  const beforeHeaders = rig.text('echo', { text: 'at last' });
  const afterHeaders = rig.text('ask', {}, { onMessage });
  const plain = new Agent();
  t.after(() => plain.destroy());
  const { origin } = rig.server;
  const impatient = plain.request({ origin, path: '/mcp', method: 'POST', body: '{"method":"x"}' });
  const refused = assert.rejects(impatient, { code: 'UND_ERR_HEADERS_TIMEOUT' });
  await rig.server.until(() => questions.length === 1 && rig.server.requests('x').length === 1);
  for (const ms of [1_000, 600_000]) {
    undiciClock.tick(ms);
    await new Promise(setImmediate);
  }
  await refused;
  held.resolve();
  await rig.transport.respond(questions[0] ?? '', { result: { action: 'decline' } });
  assert.equal(await beforeHeaders, 'at last');
  assert.equal(await afterHeaders, '{"action":"decline"}');
});
