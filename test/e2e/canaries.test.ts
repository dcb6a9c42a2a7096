// A secret in every place where one can stand, and Portico as users run it, at its most talkative: none of them is in
// its log, its metrics, its traces, its status, its audit file or an answer (F58, F59).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/gateway-process.ts';
import { type Members, RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, requestText } from '../support/raw-session.ts';
import { preloadTracing } from '../support/trace-preload.ts';

const STDIO_SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));

/** Each says where it stands. */
const canary = (place: string) => `canary-${place}-0123456789abcdef`;
const JWT = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from(JSON.stringify({ sub: canary('jwt') })).toString('base64url')}.c2lnbmF0dXJl`;

/** By the name of the environment variable that the config reads. */
const CONFIGURED = {
  SERVER_HEADER: canary('server-header'),
  SERVER_TOKEN: canary('server-token'),
  URL_PASSWORD: canary('url-password'),
  URL_QUERY: canary('url-query'),
  CHILD_SECRET: canary('child-env'),
  CHILD_ARGUMENT: canary('child-argument'),
  AUDIT_KEY: canary('audit-key'),
  ADMIN_TOKEN: canary('admin-token'),
  INTROSPECTION_SECRET: canary('introspection-secret'),
} as const;
const CALLERS_KEY = canary('callers-key');

/** A child that tells all it knows before it dies. */
const TELLS_ALL = `console.error('env ' + JSON.stringify(process.env));
  console.error('argv ' + process.argv.join(' '));
  console.error('Authorization: Bearer ${canary('bearer-on-stderr')}');
  console.error('{"access_token":"${canary('token-on-stderr')}"}');
  process.exitCode = 3;`;

/** A server that answers every request with what it was sent, as an error page, and a cookie. */
async function startEchoingServer(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const headers = { 'content-type': 'text/plain', 'set-cookie': `sid=${canary('set-cookie')}` };
    response.writeHead(500, { ...headers, 'www-authenticate': `Bearer error="${canary('challenge')}"` });
    response.end(`${request.url} ${JSON.stringify(request.headers)} ${canary('error-body')}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test('F58 F59: no planted secret is in a log line, a metric, a span, the status, the audit file or an answer', async (t) => {
  const { collector, env } = await preloadTracing(t);
  const echoing = await startEchoingServer(t);
  const nobody = '127.0.0.1:1';
  const scopes = ['mcp'];
  const sha256 = createHash('sha256').update(CALLERS_KEY).digest('hex');
  const gateway = await startGateway({
    env: { ...CONFIGURED, ...env, OF_PORTICO_ALONE: canary('own-environment') },
    secrets: [...Object.values(CONFIGURED), CALLERS_KEY],
    config: {
      mcpServers: {
        child: {
          command: process.execPath,
          args: [STDIO_SERVER, '--era=legacy'],
          env: { CHILD_SECRET: `\${CHILD_SECRET}` },
        },
        teller: {
          command: process.execPath,
          args: ['-e', TELLS_ALL, `\${CHILD_ARGUMENT}`],
          env: { CHILD_SECRET: `\${CHILD_SECRET}` },
        },
        echoing: {
          url: `http://user:\${URL_PASSWORD}@${echoing}?key=\${URL_QUERY}`,
          headers: { 'X-Api-Key': `\${SERVER_HEADER}` },
        },
        signed: { url: `http://${echoing}`, auth: { type: 'bearer', token: `\${SERVER_TOKEN}` } },
        gone: {
          url: `http://user:\${URL_PASSWORD}@${nobody}/mcp?key=\${URL_QUERY}`,
          headers: { 'X-Api-Key': `\${SERVER_HEADER}` },
        },
      },
      gateway: {
        admin: { host: '127.0.0.1', port: 0, token: `\${ADMIN_TOKEN}` },
        log: { level: 'trace' },
        audit: { file: 'audit.jsonl', key: `\${AUDIT_KEY}` },
        auth: {
          issuers: [
            {
              issuer: `http://${nobody}`,
              introspection: {
                endpoint: `http://${nobody}/introspect`,
                clientId: 'portico',
                clientSecret: `\${INTROSPECTION_SECRET}`,
              },
            },
          ],
          apiKeys: [{ name: 'ann', sha256, scopes }],
          scopesSupported: scopes,
          requiredScopes: scopes,
        },
        access: { rules: [{ name: 'everyone', allow: ['*'] }] },
      },
    },
  });
  t.after(() => gateway.stop());
  const answers: string[] = [];
  const signedIn = { authorization: `Bearer ${CALLERS_KEY}` };
  const smuggled = {
    ...signedIn,
    'proxy-authorization': `Basic ${canary('proxy-authorization')}`,
    cookie: `session=${canary('cookie')}`,
    'x-forwarded-for': canary('forwarded'),
    baggage: `user=${canary('baggage')}`,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };

  await using modern = new ModernClient(gateway.url, { headers: smuggled });
  const ask = async (path: string, method: string, params: Members, headers = {}) => {
    const url = `${gateway.url}${path}`;
    answers.push(JSON.stringify(await modern.ask(method, params, { url, headers, id: `"${canary('id')}"` })));
  };
  for (const name of ['child', 'teller', 'echoing', 'signed', 'gone']) {
    await ask(`/${name}`, 'tools/list', {});
    await ask(`/${name}`, 'tools/call', { name: 'echo', arguments: { password: canary('argument') } });
  }
  await ask('/child', 'tools/call', { name: 'echo', requestState: canary('request-state') });
  await ask('/child', 'tools/list', { cursor: canary('cursor') });
  const uri = `https://u:${canary('uri-password')}@host/?key=${canary('uri-query')}`;
  // It hears of its own URI again that it is not there.
  await modern.ask('resources/read', { uri }, { url: `${gateway.url}/child` });
  await ask('/child', 'tools/call', { name: canary('name'), arguments: {} });
  await ask('', `invented/${canary('method')}`, {});

  await using raw = new RawClient(gateway.url);
  const send = async (headers: Readonly<Record<string, string>>, body: unknown, url = gateway.url) => {
    const answer = await raw.send({ headers, body, url });
    answers.push(`${JSON.stringify(answer.headers)} ${await answer.text()}`);
  };
  const listing = requestText('1', 'tools/list', {});
  await send({ authorization: `Bearer ${canary('opaque-token')}` }, listing);
  await send({ authorization: `Bearer ${JWT}` }, listing);
  await send({ authorization: `Basic ${canary('basic')}` }, listing);
  await send({}, listing, `${gateway.url}?access_token=${canary('token-in-query')}`);
  await send({ ...signedIn, 'mcp-session-id': canary('session-id') }, listing);
  await send({ ...signedIn, origin: `https://${canary('origin')}.example` }, listing);
  await send(signedIn, `{"${canary('broken-body')}`);
  await send({ ...signedIn, 'content-type': 'text/plain' }, canary('plain-body'));
  await send(signedIn, listing, `${new URL(gateway.url).origin}/${canary('path')}?q=${canary('query')}`);

  const legacy = await openSession(`${gateway.url}/child`, { headers: signedIn });
  const said = await legacy.tool('echo', { text: canary('echoed') });
  assert.equal(said, canary('echoed'), 'what a caller asks for, it gets');
  await legacy.delete();

  for (const path of ['/status', '/metrics', '/readyz', '/livez']) {
    for (const token of [CONFIGURED.ADMIN_TOKEN, canary('wrong-admin-token')]) {
      const headers = { authorization: `Bearer ${token}` };
      answers.push(await (await fetch(gateway.adminUrl + path, { headers })).text());
    }
  }
  assert.ok(
    answers.some((text) => text.includes('"servers"')),
    'the status is among them',
  );
  const audit = await gateway.read('audit.jsonl');
  await gateway.stop();

  const told = (text: string) => [...new Set(text.match(/canary-[a-z-]+-0123456789abcdef/g))];
  const encoded = (text: string) =>
    Object.values(CONFIGURED).filter((secret) => text.includes(Buffer.from(secret).toString('base64')));
  for (const [place, text] of Object.entries({
    log: gateway.log(),
    spans: collector.bodies.join(''),
    answers: answers.join('\n'),
    audit,
  })) {
    assert.ok(text.length > 1_000, place);
    // An answer carries the id of its request, and what somebody wanted to call is what a record is for.
    assert.deepEqual(told(text), place === 'answers' ? [canary('id')] : [canary('name')], place);
    assert.deepEqual(encoded(text), [], place);
    assert.ok(!text.includes(JWT) && !text.includes(legacy.id), place);
  }
});
