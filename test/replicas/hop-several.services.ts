// What a hop takes along: a credential that only the caller's token could get, and a part of a listen on several servers.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { exchangeAt, issuerWith, tokenOf } from '../support/credentials-rig.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { ModernClient, openSession, textOf, through } from '../support/raw-session.ts';
import { startPair } from '../support/replica-pair.ts';
import { faultyConfig } from '../support/stdio-rig.ts';
import { startTokenEndpoint } from '../support/token-endpoint.ts';
import { signingKey } from '../support/token-issuer.ts';

async function exchanging(t: TestContext) {
  const key = signingKey('ES256', 'idp');
  const issuer = await issuerWith(t, key);
  const endpoint = await startTokenEndpoint(t);
  const upstream = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => upstream.close());
  const auth = { issuers: [issuer.config()], apiKeys: [], scopesSupported: [], requiredScopes: [] };
  const pair = await startPair(t, {
    http: { url: upstream.url, auth: exchangeAt(endpoint)(upstream.url) },
    gateway: { auth },
  });
  const caller = (subject: string, scope = 'mcp') => {
    const token = tokenOf(issuer, key, subject, { scope });
    return { token, headers: { authorization: `Bearer ${token}` } };
  };
  return { ...pair, endpoint, upstream, caller };
}

test('F49: a session elsewhere calls its server with what the caller’s token was exchanged for, and no token makes the hop', async (t) => {
  const { a, b, endpoint, upstream, caller, service } = await exchanging(t);
  const alice = caller('alice');
  await using session = await openSession(a, alice);
  await using atB = through(b, session, alice);
  for (const text of ['one', 'two']) assert.equal(await atB.tool('echo', { text }), text);
  assert.ok(service.logs.some(({ msg }) => msg === 'forwarded exchange'));
  assert.deepEqual([...new Set(endpoint.asked.map(({ form }) => form.get('subject_token')))], [alice.token]);
  const shown = upstream.requests('tools/call').map(({ headers }) => headers.authorization);
  assert.equal(shown.length, 2);
  for (const value of shown) assert.ok(endpoint.issued.includes(String(value).slice('Bearer '.length)));
  assert.ok(upstream.received.every(({ headers }) => headers.authorization !== alice.headers.authorization));
  const bob = caller('bob');
  await using stranger = through(b, session, bob);
  assert.equal((await stranger.ask('tools/call', { name: 'echo', arguments: {} })).error?.code, 4040);
  assert.ok(endpoint.asked.every(({ form }) => form.get('subject_token') !== bob.token));
});

test('F49: where the exchange of a later token is refused, so is the call, and nobody else’s', async (t) => {
  const { a, b, endpoint, upstream, caller } = await exchanging(t);
  const alice = caller('alice');
  const later = caller('alice', 'mcp more');
  await using session = await openSession(a, alice);
  await using atB = through(b, session, later);
  endpoint.answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
  const { error } = await atB.ask('tools/call', { name: 'echo', arguments: {} });
  assert.equal(error?.code, 5021, JSON.stringify(error));
  assert.equal(upstream.requests('tools/call').length, 0);
  assert.equal(await session.tool('echo', { text: 'hers' }), 'hers');
});

test('a listen on several servers hears a process that lives on the other replica', async (t) => {
  const two = await startFaultyHttpServer({ era: 'modern' });
  t.after(() => two.close());
  const { a, b, service } = await startPair(t, {
    servers: [
      faultyConfig(['--era=legacy'], { slug: 'one', name: 'one' }),
      httpServerConfig(two.url, { slug: 'two', name: 'two' }),
    ],
  });
  const clients = [a, b].map((url) => new ModernClient(url));
  t.after(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));
  const uri = 'one+faulty://one';
  const notifications = { toolsListChanged: true, resourceSubscriptions: [uri] };
  const listens = await Promise.all(
    clients.map((client) => client.start('subscriptions/listen', { notifications }).answer),
  );
  for (const listen of listens) {
    assert.deepEqual((await listen.message())?.params?.notifications, notifications);
  }
  for (const client of clients) {
    assert.ok(textOf(await client.ask('tools/call', updated)));
    for (const listen of listens) {
      const message = await listen.message();
      assert.deepEqual([message?.method, message?.params?.uri], ['notifications/resources/updated', uri]);
      assert.deepEqual(message?.params?._meta, { 'io.modelcontextprotocol/subscriptionId': 1 });
    }
  }
  two.announce({ method: 'notifications/tools/list_changed' });
  for (const listen of listens) {
    assert.equal((await listen.message())?.method, 'notifications/tools/list_changed');
  }
  for (const [index, listen] of listens.entries()) {
    await service.replicas[index]?.close();
    assert.equal((await listen.whole()).response.result?.resultType, 'complete', `replica ${index}`);
  }
  await eventually('the part that made a hop has ended there', () =>
    service.logs.some(({ msg, method }) => msg === 'forwarded exchange' && method === 'subscriptions/listen'),
  );
});

const updated = { name: 'one__updated', arguments: { uri: 'faulty://one' } };
