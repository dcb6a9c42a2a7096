import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import type { JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import { discover, eraOfDiscovery, initialize } from '../../src/servers/handshake.ts';
import { failure, modernRig } from '../support/http-rig.ts';
import { startRig } from '../support/stdio-rig.ts';

const error = (code: number, data?: unknown): JsonRpcOutcome => ({ error: { code, message: 'no', data } });
const GREETING = {
  identity: { name: 'portico', title: 'Portico', version: '1' },
  clientCapabilities: {},
  signal: new AbortController().signal,
};

const ERAS: readonly [string, JsonRpcOutcome, 'modern' | 'legacy'][] = [
  ['a discovery', { result: { supportedVersions: ['2026-07-28'] } }, 'modern'],
  ['a discovery of several', { result: { supportedVersions: ['2099-01-01', '2026-07-28'] } }, 'modern'],
  ['a discovery of legacy revisions alone', { result: { supportedVersions: ['2025-11-25'] } }, 'legacy'],
  ['a result that is no discovery', { result: {} }, 'legacy'],
  ['method not found', error(-32601), 'legacy'],
  ['invalid params', error(-32602), 'legacy'],
  ['invalid request', error(-32600), 'legacy'],
  ['an error of its own', error(-32000), 'legacy'],
  ['a positive error code', error(1), 'legacy'],
  ['the reserved code above', error(-32019), 'legacy'],
  ['the reserved code below', error(-32023), 'legacy'],
  ['unsupported version, with one of ours', error(-32022, { supported: ['2026-07-28'] }), 'modern'],
  ['unsupported version, legacy ones alone', error(-32022, { supported: ['2025-06-18'] }), 'legacy'],
];
for (const [what, outcome, era] of ERAS) {
  test(`F36: ${what} means ${era}`, () => assert.equal(eraOfDiscovery(outcome), era));
}

const NEITHER: readonly [string, JsonRpcOutcome][] = [
  ['a discovery of unknown revisions', { result: { supportedVersions: ['2099-01-01'] } }],
  ['unsupported version, with none of ours', error(-32022, { supported: ['2099-01-01'] })],
  ['a header mismatch', error(-32020)],
];
for (const [what, outcome] of NEITHER) {
  test(`F36: ${what} is a server that we cannot talk to`, () => {
    assert.throws(() => eraOfDiscovery(outcome), failure('server-unavailable', 'no-common-version'));
  });
}

test('a modern server is known by what it says of itself', async (t) => {
  const { transport } = await startRig(t, ['--era=modern']);
  const found = await discover(transport, GREETING);
  assert.ok(found.era === 'modern');
  assert.equal(found.peer.version, '2026-07-28');
  assert.equal(found.peer.serverInfo?.name, 'faulty');
  assert.deepEqual(found.peer.capabilities.tools, { listChanged: true });
});

test('F15: initialize, its answer, initialized, and only then requests', async (t) => {
  const { transport, request } = await startRig(t, ['--era=legacy', '--log-before-initialize']);
  const peer = await initialize(transport, { ...GREETING, clientCapabilities: { roots: {} } }, '2025-06-18');
  assert.equal(peer.version, '2025-06-18');
  // The server refuses every request before it has heard `initialized`.
  const outcome = await request('tools/call', { name: 'received', arguments: {} });
  assert.ok('result' in outcome);
  const [block] = outcome.result.content as { text: string }[];
  const received = JSON.parse(block?.text ?? '') as { method: string; params?: { capabilities?: unknown } }[];
  assert.deepEqual(
    received.map(({ method }) => method),
    ['initialize', 'notifications/initialized', 'tools/call'],
  );
  assert.deepEqual(received[0]?.params?.capabilities, { roots: {} });
});

test('a refused initialize is a failure of the server, with no word of it for clients', async (t) => {
  const { transport } = await startRig(t, ['--era=modern']);
  await assert.rejects(initialize(transport, GREETING), (thrown: unknown) => {
    assert.ok(thrown instanceof GatewayError);
    assert.equal(thrown.details.reason, 'initialize-refused');
    assert.equal(thrown.message, 'The server is not available');
    return true;
  });
});

/** A server that answers `server/discover` with each of `answers` in turn, and then with the last for ever. */
async function discoverAt(t: TestContext, answers: readonly JsonRpcOutcome[]) {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const { id } = (await json(request)) as { id: number };
    const outcome = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    response.writeHead(outcome && 'error' in outcome ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { transport } = await modernRig(t, { url: () => `http://127.0.0.1:${port}/mcp` });
  return { discovering: discover(transport, GREETING), asked: () => asked };
}

test('a server that refuses our revision, and yet names it, is asked once more', async (t) => {
  const refusal = error(-32022, { supported: ['2026-07-28'] });
  const patient = await discoverAt(t, [refusal, { result: { supportedVersions: ['2026-07-28'] } }]);
  assert.equal((await patient.discovering).era, 'modern');
  assert.equal(patient.asked(), 2);
  const stubborn = await discoverAt(t, [refusal]);
  await assert.rejects(stubborn.discovering, failure('server-unavailable', 'discover-refused'));
  assert.equal(stubborn.asked(), 2);
});
