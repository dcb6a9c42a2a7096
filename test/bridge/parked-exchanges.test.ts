// A modern client and a legacy server that asks: the exchanges of a parked call, over both wires (BRIDGE.md, B).
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { GatewayConfig, ServerConfig } from '../../src/config/config.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import {
  ACCEPTED,
  asking,
  callAsking,
  FORM,
  inputRequiredOf,
  retryParams,
} from '../support/parked-client.ts';
import type { Message } from '../support/raw-client.ts';
import { ModernClient, textOf } from '../support/raw-session.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../support/start-gateway.ts';

const CAPABILITIES = { elicitation: {}, roots: {} };
const STATE_INVALID = { code: -32602, message: 'Invalid or expired state' };
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

interface BehindOptions {
  readonly config?: Partial<Pick<ServerConfig, 'client' | 'queue' | 'callTimeoutMs'>>;
  readonly switches?: readonly string[];
  readonly gateway?: Partial<GatewayConfig>;
  readonly overrides?: StartOptions['overrides'];
}

interface Behind {
  readonly gateway: StartedGateway;
  readonly client: ModernClient;
  readonly server?: FaultyHttpServer;
}

async function behind(t: TestContext, wire: 'stdio' | 'http', options: BehindOptions = {}): Promise<Behind> {
  const { config, switches = [], gateway: changes = {}, overrides } = options;
  const server = wire === 'http' ? await startFaultyHttpServer({ era: 'legacy' }) : undefined;
  const gateway = await startGateway({
    ...(server
      ? { http: { url: server.url, ...config } }
      : { stdio: { switches: ['--era=legacy', ...switches], ...config } }),
    gateway: changes,
    ...(overrides && { overrides }),
  });
  const client = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  t.after(async () => {
    await client[Symbol.asyncDispose]();
    await gateway.close();
    await server?.close();
  });
  return { gateway, client, ...(server && { server }) };
}

function limits(parked: Partial<GatewayConfig['parked']>): Partial<GatewayConfig> {
  return { parked: { timeoutMs: 60_000, max: 100, maxPerPrincipal: 100, ...parked } };
}

/** Every frame that the client's own child has had. */
async function received(client: ModernClient): Promise<Message[]> {
  return JSON.parse(await client.tool('received')) as Message[];
}

async function untilReceived(client: ModernClient, method: string): Promise<void> {
  while (!(await received(client)).some((frame) => frame.method === method)) await new Promise(setImmediate);
}

for (const wire of ['stdio', 'http'] as const) {
  describe(`a legacy server over ${wire}`, () => {
    test('asks, and the call ends with the question; the retry under another id ends with the result', async (t) => {
      const { client } = await behind(t, wire);
      const asked = await client.ask('tools/call', asking(), { id: '"first"' });
      assert.equal(asked.id, 'first');
      const required = inputRequiredOf(asked);
      assert.deepEqual(required.inputRequests, {
        q1: { method: 'elicitation/create', params: { mode: 'form', ...FORM } },
      });
      const done = await client.ask('tools/call', retryParams(required), { id: '2' });
      assert.equal(done.id, 2);
      assert.deepEqual([done.result?.resultType, JSON.parse(textOf(done))], ['complete', ACCEPTED]);
    });

    test('the retry brings its own progress token and log level', async (t) => {
      const { client } = await behind(t, wire);
      const meta = { progressToken: 'first', [LOG_LEVEL]: 'debug' };
      const args = { busy: true };
      for (const [retryMeta, heard] of [
        [{ progressToken: 0 }, [['notifications/progress', 0]]],
        [{ [LOG_LEVEL]: 'info' }, [['notifications/message', undefined]]],
        [{ [LOG_LEVEL]: 'error' }, []],
        [
          { ...meta, progressToken: 'second' },
          [
            ['notifications/progress', 'second'],
            ['notifications/message', undefined],
          ],
        ],
      ] as const) {
        const required = await callAsking(client, args, { meta });
        const retry = client.start('tools/call', retryParams(required, args), { meta: retryMeta });
        const { before } = await (await retry.answer).whole();
        assert.deepEqual(
          before.map(({ method, params }) => [method, params?.progressToken]),
          heard,
        );
      }
    });

    test('also one whose first exchange asked for no log lines', async (t) => {
      const { client } = await behind(t, wire);
      const args = { busy: true };
      const required = await callAsking(client, args);
      const meta = { [LOG_LEVEL]: 'debug' };
      const { before } = await (
        await client.start('tools/call', retryParams(required, args), { meta }).answer
      ).whole();
      assert.deepEqual(
        before.map(({ params }) => params?.data),
        ['answered'],
      );
    });

    test('what is missing or malformed is asked for again, and the state before is used up', async (t) => {
      const { client } = await behind(t, wire);
      const first = await callAsking(client);
      const again = inputRequiredOf(await client.ask('tools/call', retryParams(first, {}, {})));
      assert.deepEqual(again.inputRequests, first.inputRequests);
      const third = inputRequiredOf(await client.ask('tools/call', retryParams(again, {}, { q1: 'Ada' })));
      assert.deepEqual((await client.ask('tools/call', retryParams(first))).error, STATE_INVALID);
      assert.deepEqual(JSON.parse(textOf(await client.ask('tools/call', retryParams(third)))), ACCEPTED);
    });

    test('answers without a state are a fresh call', async (t) => {
      const { client } = await behind(t, wire);
      const fresh = await client.ask('tools/call', { ...asking(), inputResponses: { q1: ACCEPTED } });
      assert.ok(inputRequiredOf(fresh).requestState);
    });

    test('a call that nobody comes back for expires, and the server hears that it is cancelled', async (t) => {
      const { client, server } = await behind(t, wire, { gateway: limits({ timeoutMs: 50 }) });
      const required = await callAsking(client);
      if (server) await server.until(() => server.cancelled.length > 0);
      else await untilReceived(client, 'notifications/cancelled');
      assert.deepEqual((await client.ask('tools/call', retryParams(required))).error, STATE_INVALID);
    });

    test('the time that a person takes is not the time of the call', async (t) => {
      const { client } = await behind(t, wire, { config: { callTimeoutMs: 300 } });
      const required = await callAsking(client);
      await new Promise((resolve) => setTimeout(resolve, 600));
      assert.deepEqual(JSON.parse(textOf(await client.ask('tools/call', retryParams(required)))), ACCEPTED);
    });

    test('a server that dies while its call is parked is a failure of the retry', async (t) => {
      const { client, server } = await behind(t, wire);
      const required = await callAsking(client);
      if (server) server.breakConnections();
      else await client.ask('tools/call', { name: 'crash', arguments: {} });
      assert.equal((await client.ask('tools/call', retryParams(required))).error?.code, 5020);
    });

    test('beyond what may be parked, and what one caller may park, calls end with 503', async (t) => {
      const { client } = await behind(t, wire, { gateway: limits({ maxPerPrincipal: 1 }) });
      const required = await callAsking(client);
      const refused = await client.start('tools/call', asking()).answer;
      assert.equal(refused.status, 503);
      assert.match(String(refused.headers['retry-after']), /^\d+$/);
      assert.equal((await refused.json()).error?.code, 5030);
      assert.deepEqual(JSON.parse(textOf(await client.ask('tools/call', retryParams(required)))), ACCEPTED);
    });

    for (const [what, question, required] of [
      ['a feature', { method: 'sampling/createMessage' }, { sampling: {} }],
      [
        'a mode',
        { params: { ...FORM, mode: 'url', url: 'https://a.example' } },
        { elicitation: { url: {} } },
      ],
    ] as const) {
      test(`needs ${what} that the client did not declare: refused, and the client told why the call failed`, async (t) => {
        const { client } = await behind(t, wire);
        const lenient = textOf(await client.ask('tools/call', asking(question)));
        assert.equal(JSON.parse(lenient).code, what === 'a mode' ? -32602 : -32601);
        const answer = await client.start('tools/call', asking({ ...question, strict: true })).answer;
        const { error } = await answer.json();
        assert.deepEqual(
          [answer.status, error?.code, error?.data?.requiredCapabilities],
          [400, -32021, required],
        );
      });
    }

    test('a fixed list of roots is answered here', async (t) => {
      const roots = [{ uri: 'file:///srv' }];
      const { client } = await behind(t, wire, {
        config: { client: { roots, sampling: 'allow', elicitation: 'allow' } },
      });
      const answer = await client.tool('ask', { method: 'roots/list' });
      assert.deepEqual(JSON.parse(answer), { roots });
    });
  });
}

test('a question that the server takes back at once is never put', async (t) => {
  const { client } = await behind(t, 'stdio');
  assert.equal(await client.tool('ask-and-withdraw', { id: 'q' }), 'withdrawn');
});

test('on a pipe one call at a time may be asked something, and one that is parked blocks nobody', async (t) => {
  const { client } = await behind(t, 'stdio');
  const order: string[] = [];
  const note = (name: string) => (text: string) => {
    order.push(name);
    return text;
  };
  await callAsking(client);
  const slow = client.tool('wait', { ms: 300 }, { id: '1' }).then(note('slow'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const quick = client.tool('echo', { text: 'quick' }, { id: '2' }).then(note('quick'));
  await Promise.all([slow, quick]);
  assert.deepEqual(order, ['slow', 'quick']);
});

test('over HTTP calls run side by side', async (t) => {
  const { client } = await behind(t, 'http');
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  assert.equal(await client.tool('echo', { text: 'quick' }), 'quick');
  slow.abort();
});

test('who waits too long for a turn is told to come back', async (t) => {
  const { client } = await behind(t, 'stdio', { config: { queue: { max: 10, timeoutMs: 50 } } });
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const refused = await client.start('tools/call', asking()).answer;
  assert.deepEqual([refused.status, (await refused.json()).error?.code], [503, 5030]);
  slow.abort();
});

test('a question of a call that was given up is not put to the next caller', async (t) => {
  const { gateway, client } = await behind(t, 'stdio');
  await using other = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  const given = client.start('tools/call', { name: 'ask-when-cancelled', arguments: { id: 'late' } });
  while ((await gateway.status()).servers.faulty?.inFlight !== 1) await new Promise(setImmediate);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const next = other.ask('tools/call', { name: 'wait', arguments: { ms: 100 } });
  given.abort();
  assert.equal(textOf(await next), 'waited');
  const answer = (await received(other)).find(({ id }) => id === 'late');
  assert.equal(answer?.error?.code, -32601);
});

test('clients that declare nothing cannot be asked, so they take no turns', async (t) => {
  const { gateway } = await behind(t, 'stdio');
  await using silent = new ModernClient(gateway.url);
  const slow = silent.start('tools/call', { name: 'never', arguments: {} });
  assert.equal(await silent.tool('echo', { text: 'quick' }), 'quick');
  slow.abort();
});

test('a question that comes before any call is asked of the first', async (t) => {
  const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
  const rig = await behind(t, 'stdio', { switches: ['--roots-after-initialized'], config: { client } });
  const call = { name: 'wait', arguments: { ms: 200 } };
  const required = inputRequiredOf(await rig.client.ask('tools/call', call));
  assert.deepEqual(required.inputRequests, { q1: { method: 'roots/list' } });
  const inputResponses = { q1: { roots: [] } };
  const { requestState } = required;
  assert.equal(
    textOf(await rig.client.ask('tools/call', { ...call, requestState, inputResponses })),
    'waited',
  );
  const answer = (await received(rig.client)).find(({ id }) => id === 'early-roots');
  assert.deepEqual(answer?.result, { roots: [] });
});

test('or refused when patience is over', async (t) => {
  const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
  const rig = await behind(t, 'stdio', {
    switches: ['--roots-after-initialized'],
    config: { client },
    overrides: { questionPatienceMs: 20 },
  });
  // A request that cannot be asked anything opens the link.
  await rig.client.ask('completion/complete', { ref: {}, argument: {} });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answer = (await received(rig.client)).find(({ id }) => id === 'early-roots');
  assert.equal(answer?.error?.code, -32601);
});

test("a question on the server's own stream belongs to the only call in flight", async (t) => {
  const { client, server } = await behind(t, 'http');
  assert.ok(server);
  const call = { name: 'wait', arguments: { ms: 300 } };
  const asked = client.ask('tools/call', call);
  await server.request('tools/call:wait');
  // Also the link that lists come from hears it, and refuses it: nobody is asked there.
  await server.until(() => server.listening === 2);
  server.announce({ id: 'beside', method: 'elicitation/create', params: FORM });
  const required = inputRequiredOf(await asked);
  const { requestState } = required;
  const retry = client.ask('tools/call', { ...call, requestState, inputResponses: { q1: ACCEPTED } });
  const { message } = await server.request((request) => request.message?.result !== undefined);
  assert.deepEqual([message?.id, message?.result], ['beside', ACCEPTED]);
  assert.equal(textOf(await retry), 'waited');
  // From now on calls take turns there: such a question would name neither of two.
  const slow = client.start('tools/call', { name: 'never', arguments: {} }, { id: '7' });
  await server.request('tools/call:never');
  const waiting = client.start('tools/call', { name: 'echo', arguments: {} }, { id: '8' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(server.requests('tools/call:echo').length, 0);
  slow.abort();
  assert.equal((await waiting.answer).status, 200);
});

test('-32042 of 2025-11-25 becomes its URLs, and the retry makes the call afresh', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using client = new ModernClient(gateway.url, { capabilities: { elicitation: { url: {} } } });
  const elicitations = [
    { mode: 'url', elicitationId: 'e1', url: 'https://a.example/1', message: 'Sign in' },
    { elicitationId: 'e2', url: 'https://a.example/2' },
  ];
  const call = { name: 'protocol-error', arguments: { code: -32042, data: { elicitations } } };
  const required = inputRequiredOf(await client.ask('tools/call', call));
  const visit = (url: string, message: string) => ({
    method: 'elicitation/create',
    params: { mode: 'url', url, message },
  });
  assert.deepEqual(required.inputRequests, {
    url1: visit('https://a.example/1', 'Sign in'),
    url2: visit('https://a.example/2', 'as you wish'),
  });
  const { requestState } = required;
  const inputResponses = { url1: { action: 'accept' }, url2: { action: 'accept' } };
  // The server demands them again: that is its right.
  inputRequiredOf(await client.ask('tools/call', { ...call, requestState, inputResponses }));
  const sent = server
    .requests('tools/call')
    .map(({ message }) => Object.keys(message?.params ?? {}).toSorted());
  assert.deepEqual(sent, [
    ['_meta', 'arguments', 'name'],
    ['_meta', 'arguments', 'name'],
  ]);
});

for (const [what, capabilities, data, status, code] of [
  [
    'a client that visits no URLs',
    { elicitation: {} },
    { elicitations: [{ url: 'https://a.example' }] },
    400,
    -32021,
  ],
  ['a server that names none', { elicitation: { url: {} } }, { elicitations: [] }, 200, -32603],
] as const) {
  test(`-32042 with ${what} is an error, and never that one`, async (t) => {
    const { gateway } = await legacyHttpBehind(t);
    await using client = new ModernClient(gateway.url, { capabilities });
    const args = { code: -32042, data };
    const answer = await client.start('tools/call', { name: 'protocol-error', arguments: args }).answer;
    assert.deepEqual([answer.status, (await answer.json()).error?.code], [status, code]);
  });
}
