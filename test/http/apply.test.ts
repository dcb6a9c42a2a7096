// What of the public listener changes while it listens, for requests that come from then on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../src/access/principal.ts';
import type { SignInAttempt } from '../../src/access/sign-in/bearer-token.ts';
import type { LimitConfig } from '../../src/config/limits-config.ts';
import { GatewayError } from '../../src/errors.ts';
import type { SignIn } from '../../src/http/sign-in.ts';
import { edgeConfig, post, startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

function signInAs(subject: string, authenticate?: (attempt: SignInAttempt) => Promise<never>): SignIn {
  return {
    authenticate: authenticate ?? (async () => ({ ...ANONYMOUS, issuer: 'test', subject })),
    recognize: () => undefined,
    challenge: () => `Test realm="${subject}"`,
    metadata: () => undefined,
    watch: () => new AbortController().signal,
  };
}

const refusing = (subject: string) =>
  signInAs(subject, async () => {
    throw new GatewayError('token-invalid');
  });

test('a body that is still on its way when sign-in changes is judged by the new one', async (t) => {
  const asked = Promise.withResolvers<void>();
  const before = signInAs('before');
  const signIn: SignIn = {
    ...before,
    async authenticate(attempt) {
      setImmediate(asked.resolve);
      return before.authenticate(attempt);
    },
  };
  const edge = await startEdge(t, { signIn });
  const client = await RawClient.open(t, edge.port);
  client.send(head('POST /mcp HTTP/1.1', 'Content-Length: 2', 'Accept: */*'));
  await asked.promise;
  edge.server.apply({ config: edgeConfig(), signIn: refusing('after') });
  client.send('{}');
  const answer = await client.until('}}');
  assert.match(answer, /^HTTP\/1.1 401 /);
  assert.match(answer, /realm="after"/);
});

test('a sign-in that gives way while it is asked decides nothing', async (t) => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<never>();
  const before = signInAs('before', () => {
    asked.resolve();
    return gone.promise;
  });
  const principals: string[] = [];
  const edge = await startEdge(t, {
    signIn: before,
    handle({ principal, reply }) {
      principals.push(principal.subject);
      reply.accept();
    },
  });
  const answered = post(`${edge.url}/mcp`, '{}');
  await asked.promise;
  edge.server.apply({ config: edgeConfig(), signIn: signInAs('after') });
  gone.reject(new GatewayError('issuer-unavailable'));
  assert.equal((await answered).status, 202);
  assert.deepEqual(principals, ['after']);
});

test('origins, hosts, body limit and trusted proxies', async (t) => {
  const addresses: string[] = [];
  const edge = await startEdge(t, {
    handle({ arrival, reply }) {
      addresses.push(arrival.address);
      reply.accept();
    },
  });
  const url = `${edge.url}/mcp`;
  const origin = { Origin: 'https://new.example' };
  const forwarded = { 'X-Forwarded-For': '203.0.113.7' };
  assert.equal((await post(url, '{}', origin)).status, 403);
  assert.equal((await post(url, '{"a":1}', forwarded)).status, 202);
  edge.server.apply({
    config: edgeConfig({
      origins: ['https://new.example'],
      bodyLimitBytes: 4,
      trustedProxies: ['127.0.0.0/8'],
    }),
  });
  assert.equal((await post(url, '{}', origin)).status, 202);
  assert.equal((await post(url, '{"a":1}')).status, 413);
  assert.equal((await post(url, '{}', forwarded)).status, 202);
  assert.deepEqual(addresses, ['127.0.0.1', '127.0.0.1', '203.0.113.7']);
});

test('a guard goes on counting where one of its name and window did', async (t) => {
  const guard = (max: number, windowMs = 60_000): LimitConfig => ({
    name: 'guard',
    key: ['ip'],
    match: '*',
    max,
    windowMs,
    inFlight: undefined,
    cost: undefined,
    lease: undefined,
  });
  const edge = await startEdge(t, { ipGuard: { guards: [guard(2)] } });
  const ask = async () => (await post(`${edge.url}/mcp`, '{}')).status;
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
  edge.server.apply({ config: edgeConfig(), ipGuard: { guards: [guard(5)] } });
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
  edge.server.apply({ config: edgeConfig(), ipGuard: { guards: [guard(5, 30_000)] } });
  assert.equal(await ask(), 200);
  edge.server.apply({ config: edgeConfig() });
  for (let count = 0; count < 6; count += 1) assert.equal(await ask(), 200);
});
