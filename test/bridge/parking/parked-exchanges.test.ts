// A modern client and a legacy server that asks: the exchanges of a parked call, over both wires.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GatewayConfig } from '../../../src/config/config.ts';
import { askingServer, untilReceived } from '../../support/asking-server.ts';
import { legacyHttpBehind } from '../../support/legacy-http.ts';
import {
  ACCEPTED,
  asking,
  callAsking,
  FORM,
  inputRequiredOf,
  retryParams,
} from '../../support/parked-client.ts';
import { ModernClient, textOf } from '../../support/raw-session.ts';
import { LIST_LINKS } from '../../support/replicas-wanted.ts';

const STATE_INVALID = { code: -32602, message: 'Invalid or expired state' };
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

function limits(parked: Partial<GatewayConfig['parked']>): Partial<GatewayConfig> {
  return { parked: { timeoutMs: 60_000, max: 100, maxPerPrincipal: 100, ...parked } };
}

for (const wire of ['stdio', 'http'] as const) {
  describe(`a legacy server over ${wire}`, () => {
    test('asks, and the call ends with the question; the retry under another id ends with the result', async (t) => {
      const { client } = await askingServer(t, wire);
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
      const { client } = await askingServer(t, wire);
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
      const { client } = await askingServer(t, wire);
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
      const { client } = await askingServer(t, wire);
      const first = await callAsking(client);
      const again = inputRequiredOf(await client.ask('tools/call', retryParams(first, {}, {})));
      assert.deepEqual(again.inputRequests, first.inputRequests);
      const third = inputRequiredOf(await client.ask('tools/call', retryParams(again, {}, { q1: 'Ada' })));
      assert.deepEqual((await client.ask('tools/call', retryParams(first))).error, STATE_INVALID);
      assert.deepEqual(JSON.parse(textOf(await client.ask('tools/call', retryParams(third)))), ACCEPTED);
    });

    test('answers without a state are a fresh call', async (t) => {
      const { client } = await askingServer(t, wire);
      const fresh = await client.ask('tools/call', { ...asking(), inputResponses: { q1: ACCEPTED } });
      assert.ok(inputRequiredOf(fresh).requestState);
    });

    test('a call that nobody comes back for expires, and the server hears that it is cancelled', async (t) => {
      const { client, server } = await askingServer(t, wire, { gateway: limits({ timeoutMs: 50 }) });
      const required = await callAsking(client);
      if (server) await server.until(() => server.cancelled.length > 0);
      else await untilReceived(client, 'notifications/cancelled');
      assert.deepEqual((await client.ask('tools/call', retryParams(required))).error, STATE_INVALID);
    });

    test('the time that a person takes is not the time of the call', async (t) => {
      const { client } = await askingServer(t, wire, { config: { callTimeoutMs: 300 } });
      const required = await callAsking(client);
      await new Promise((resolve) => setTimeout(resolve, 600));
      assert.deepEqual(JSON.parse(textOf(await client.ask('tools/call', retryParams(required)))), ACCEPTED);
    });

    test('a server that dies while its call is parked is a failure of the retry', async (t) => {
      const { client, server } = await askingServer(t, wire);
      const required = await callAsking(client);
      if (server) server.breakConnections();
      else await client.ask('tools/call', { name: 'crash', arguments: {} });
      assert.equal((await client.ask('tools/call', retryParams(required))).error?.code, 5020);
    });

    test('beyond what may be parked, and what one caller may park, calls end with 503', async (t) => {
      const { client } = await askingServer(t, wire, { gateway: limits({ maxPerPrincipal: 1 }) });
      const required = await callAsking(client);
      // Over HTTP a call is parked on the replica that it reached, and each counts its own.
      for (let more = 1; wire === 'http' && more < LIST_LINKS; more += 1) await callAsking(client);
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
        const { client } = await askingServer(t, wire);
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
      const { client } = await askingServer(t, wire, {
        config: { client: { roots, sampling: 'allow', elicitation: 'allow' } },
      });
      const answer = await client.tool('ask', { method: 'roots/list' });
      assert.deepEqual(JSON.parse(answer), { roots });
    });
  });
}

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
