// A session at a legacy HTTP server that one link has left and another goes on in: no handshake while the server knows
// it, one where it does not.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { UpstreamSession } from '../../src/servers/peer.ts';
import type { OwnLinkRequest, Server } from '../../src/servers/server.ts';
import { wasNeverAccepted } from '../../src/servers/was-never-accepted.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { callTool, openServer } from '../support/server-rig.ts';

const OWN = { key: 'session one', owner: 'a', pinned: true, clientCapabilities: {} } satisfies OwnLinkRequest;

/** A server, a session that was left there, and who may go on in it: each stands for a replica. */
async function left(t: TestContext): Promise<{
  upstream: FaultyHttpServer;
  session: UpstreamSession;
  successor: Server;
}> {
  const upstream = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => upstream.close());
  const config = httpServerConfig(upstream.url);
  const { server: former } = openServer(t, config);
  const link = await former.ownLink(OWN);
  await callTool(link, 'echo', { text: 'before' });
  const session = link.upstreamSession ?? assert.fail('there is no session');
  link.leaveSession();
  await former.close();
  assert.equal(upstream.requests('DELETE').length, 0);
  return { upstream, session, successor: openServer(t, config).server };
}

function once(session: UpstreamSession): () => UpstreamSession | undefined {
  const given = [session];
  return () => given.pop();
}

/** As the bridge calls: once more where the server cannot have begun. */
async function echo(server: Server, request: OwnLinkRequest, text: string): Promise<string> {
  const call = async () => callTool(await server.ownLink(request), 'echo', { text });
  return call().catch((thrown) => (wasNeverAccepted(thrown) ? call() : Promise.reject(thrown)));
}

test('F01: a session that the server still knows is gone on in without a handshake', async (t) => {
  const { upstream, session, successor } = await left(t);
  const heard: string[] = [];
  const request = {
    ...OWN,
    inherited: once(session),
    onUnsolicited: ({ method }: { readonly method: string }) => void heard.push(method),
  };
  assert.equal(await echo(successor, request, 'after'), 'after');
  const calls = upstream.requests('tools/call:echo');
  assert.deepEqual(
    calls.map(({ headers }) => [headers['mcp-session-id'], headers['mcp-protocol-version']]),
    calls.map(() => [session.id, session.peer.version]),
  );
  assert.equal(upstream.requests('initialize').length, 1);
  await upstream.until(() => upstream.listening === 1);
  upstream.announce({ method: 'notifications/resources/updated', params: { uri: 'a:b' } });
  await upstream.until(() => heard.length > 0);
  assert.deepEqual(heard, ['notifications/resources/updated']);
  await successor.close();
  assert.equal(upstream.requests('DELETE').length, 1, 'it is the successor’s to end');
});

const LOST: readonly [string, { status: number; body: string }][] = [
  ['404', { status: 404, body: '' }],
  ['400 in words', { status: 400, body: 'No valid session ID provided' }],
];
for (const [how, lostSession] of LOST) {
  test(`F03: a server that has forgotten it (${how}) is greeted once for all calls that wait`, async (t) => {
    const { upstream, session, successor } = await left(t);
    upstream.lostSession = lostSession;
    upstream.forgetSessions();
    const request = { ...OWN, inherited: once(session) };
    const texts = Array.from({ length: 10 }, (_, n) => `call ${n}`);
    assert.deepEqual(await Promise.all(texts.map((text) => echo(successor, request, text))), texts);
    assert.equal(upstream.requests('initialize').length, 2);
    assert.equal(successor.status().failures, 0);
  });
}

test('F03: a session is offered once: the next link greets', async (t) => {
  const { upstream, session, successor } = await left(t);
  const request = { ...OWN, inherited: once(session) };
  await echo(successor, request, 'one');
  await successor.releaseOwnLink(OWN.key);
  await echo(successor, request, 'two');
  assert.equal(upstream.requests('initialize').length, 2);
});

test('what the session was told of the server is not what the server says now', async (t) => {
  const { session, successor } = await left(t);
  const peer = { ...session.peer, instructions: undefined, capabilities: {} };
  const link = await successor.ownLink({ ...OWN, inherited: once({ ...session, peer }) });
  assert.deepEqual([link.peer, successor.lastPeer], [peer, undefined]);
});
