import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { ANONYMOUS, type Principal } from '../../src/access/principal.ts';
import type { Challenge } from '../../src/access/sign-in/bearer-challenge.ts';
import type { SignInAttempt } from '../../src/access/sign-in/bearer-token.ts';
import { GatewayError } from '../../src/errors.ts';
import type { SignIn } from '../../src/http/sign-in.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { post, startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const tokenId = createHash('sha256').update('good').digest('base64url');
const ALICE: Principal = { ...ANONYMOUS, issuer: 'https://idp.example', subject: 'alice', tokenId };

/** Lets one token in, and words challenges so that a test can read them. */
function doorkeeper(): SignIn & { attempts: SignInAttempt[] } {
  const attempts: SignInAttempt[] = [];
  return {
    attempts,
    async authenticate(attempt) {
      attempts.push(attempt);
      if (attempt.authorization === undefined) throw new GatewayError('token-missing');
      if (attempt.authorization.join() !== 'Bearer good') throw new GatewayError('token-invalid');
      return ALICE;
    },
    recognize: () => undefined,
    challenge: (challenge: Challenge) => `Test ${JSON.stringify(challenge)}`,
    metadata: () => undefined,
    watch: () => new AbortController().signal,
  };
}

test('F48: on every method of every view, who has no token is challenged, before any body is read', async (t) => {
  const { port, settled } = await startEdge(t, { signIn: doorkeeper() });
  for (const method of ['POST', 'GET', 'DELETE']) {
    for (const path of ['/mcp', '/mcp/no-such-server']) {
      const client = await RawClient.open(t, port);
      client.send(head(`${method} ${path} HTTP/1.1`, 'Content-Length: 100', 'Accept: text/html'));
      const answer = await client.until('}}');
      assert.match(answer, /^HTTP\/1.1 401 Unauthorized\r\n/);
      const view = path === '/mcp' ? '' : ',"view":"no-such-server"';
      assert.ok(answer.includes(`WWW-Authenticate: Test {"kind":"missing_token"${view}}\r\n`), answer);
      assert.match(
        answer,
        /\{"jsonrpc":"2.0","error":\{"code":4010,"message":"An access token is required"\}\}$/,
      );
    }
  }
  assert.equal(settled.filter(({ outcome }) => outcome === 'token-missing').length, settled.length);
});

test('F48: a token that is no good is challenged as such, and the browser may read it', async (t) => {
  const { url } = await startEdge(t, { signIn: doorkeeper() });
  const response = await post(`${url}/mcp`, '{}', {
    Authorization: 'Bearer bad',
    Origin: 'http://localhost:1',
  });
  assert.equal(response.status, 401);
  assert.equal(response.headers.get('www-authenticate'), 'Test {"kind":"invalid_token"}');
  assert.equal(response.headers.get('access-control-allow-origin'), 'http://localhost:1');
});

test('F53: a preflight needs no token', async (t) => {
  const signIn = doorkeeper();
  const { url } = await startEdge(t, { signIn });
  const headers = { Origin: 'http://localhost:1', 'Access-Control-Request-Method': 'POST' };
  assert.equal((await fetch(`${url}/mcp`, { method: 'OPTIONS', headers })).status, 204);
  assert.equal((await fetch(`${url}/mcp`, { method: 'PUT', headers })).status, 405);
  assert.deepEqual(signIn.attempts, []);
});

test('who is let in is the principal of the exchange', async (t) => {
  let principal: Principal | undefined;
  const { url } = await startEdge(t, {
    signIn: doorkeeper(),
    handle: (exchange) => {
      principal = exchange.principal;
      exchange.reply.accept();
    },
  });
  assert.equal((await post(`${url}/mcp`, '{}', { Authorization: 'Bearer good' })).status, 202);
  assert.deepEqual(principal, ALICE);
});

test('each Authorization line is shown by itself, and whether the query holds a token', async (t) => {
  const signIn = doorkeeper();
  const { port } = await startEdge(t, { signIn });
  for (const target of ['/mcp?access_token=x', '/mcp?a=b&access%5Ftoken', '/mcp/docs?token=x']) {
    const client = await RawClient.open(t, port);
    const lines = ['Authorization: Bearer one', 'authorization: Bearer two, Bearer three'];
    await client.send(`${head(`POST ${target} HTTP/1.1`, ...lines, 'Content-Length: 2')}{}`).until('}}');
  }
  const authorization = ['Bearer one', 'Bearer two, Bearer three'];
  assert.deepEqual(signIn.attempts, [
    { authorization, tokenInQuery: true, view: undefined },
    { authorization, tokenInQuery: true, view: undefined },
    { authorization, tokenInQuery: false, view: 'docs' },
  ]);
});

test('a client that has left while it was looked at gets no exchange, though all of its request is here', async (t) => {
  const looking = Promise.withResolvers<void>();
  const lookedAt = Promise.withResolvers<Principal>();
  let exchanges = 0;
  const signIn = {
    ...doorkeeper(),
    authenticate: () => {
      looking.resolve();
      return lookedAt.promise;
    },
  };
  const { port, server, nextSettled } = await startEdge(t, {
    signIn,
    handle: () => {
      exchanges += 1;
    },
  });
  const client = await RawClient.open(t, port);
  client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`);
  await looking.promise;
  const settling = nextSettled();
  client.socket.destroy();
  const { outcome, reason } = await settling;
  assert.deepEqual([outcome, reason], ['cancelled', 'client_left']);
  lookedAt.resolve(ALICE);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([exchanges, server.openReplies, server.bufferedBytes], [0, 0, 0]);
});

test('F50: a call that needs more scopes is challenged with all of them at once', async (t) => {
  const { url } = await startEdge(t, {
    signIn: doorkeeper(),
    handle: ({ reply }) =>
      reply.fail(new GatewayError('scope-insufficient', { scopes: ['a', 'b'] }), '1', 'modern'),
  });
  const response = await post(`${url}/mcp/docs`, '{}', { Authorization: 'Bearer good' });
  assert.equal(response.status, 403);
  assert.equal(
    response.headers.get('www-authenticate'),
    'Test {"kind":"insufficient_scope","view":"docs","scopes":["a","b"]}',
  );
});

test('an issuer that cannot be asked is no fault of the token: 503, and no challenge', async (t) => {
  const signIn = {
    ...doorkeeper(),
    authenticate: () => Promise.reject(new GatewayError('issuer-unavailable')),
  };
  const { url } = await startEdge(t, { signIn });
  const response = await post(`${url}/mcp`, '{}', { Authorization: 'Bearer good' });
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('www-authenticate'), null);
});

test('nothing is done by a token once its exchange is over, or has settled in, which lets go of headers and body', async (t) => {
  const taken: Exchange[] = [];
  const hadToken: boolean[] = [];
  const { url } = await startEdge(t, {
    signIn: doorkeeper(),
    config: { trustedProxies: ['127.0.0.1'] },
    handle(exchange) {
      const hasToken = () => hadToken.push(exchange.caller.token() !== undefined);
      taken.push(exchange);
      hasToken();
      if (taken.length > 1) {
        exchange.settleIn?.();
        hasToken();
        assert.deepEqual([exchange.headers, exchange.body.length], [{}, 0]);
        assert.equal(exchange.arrival.address, '192.0.2.7');
      }
      exchange.reply.respond('1', { result: {} });
    },
  });
  const headers = { Authorization: 'Bearer good', 'X-Forwarded-For': '192.0.2.7' };
  for (let call = 0; call < 2; call += 1) assert.equal((await post(`${url}/mcp`, '{}', headers)).status, 200);
  assert.deepEqual(hadToken, [true, true, false]);
  for (const { caller } of taken) assert.equal(caller.token(), undefined);
});
