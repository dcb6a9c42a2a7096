// How connections to HTTP servers come about: TLS, authorities, client certificates, proxies.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { HttpServerConfig } from '../../../src/config/config.ts';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { createAuthority } from '../../support/certificates.ts';
import { startHttpProxy } from '../../support/http-proxy.ts';
import { failure, type HttpRig, type HttpRigOptions, modernRig, sseRig } from '../../support/http-rig.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

const authority = createAuthority();
const stranger = createAuthority('Another Authority');
const server = authority.issueServer(['localhost', 'mcp.internal.test']);

async function works(rig: HttpRig): Promise<void> {
  assert.equal(await rig.text('echo', { text: 'through' }), 'through');
}

function tlsRig(t: TestContext, options: HttpRigOptions): Promise<HttpRig> {
  return modernRig(t, { tls: server, ...options });
}

test('a server of a private authority is trusted with `outbound.ca`, or with its own `tls.ca`', async (t) => {
  await works(await tlsRig(t, { outbound: { ca: authority.cert } }));
  await works(await tlsRig(t, { config: { tls: { ca: authority.cert } } }));
});

test('without its authority, or with another one, a server is not trusted', async (t) => {
  const untrusting: HttpRigOptions[] = [
    {},
    { outbound: { ca: stranger.cert } },
    { config: { tls: { ca: stranger.cert } } },
    // Whoever names the authority of one server does not mean the others as well.
    { config: { tls: { ca: stranger.cert } }, outbound: { ca: authority.cert } },
  ];
  for (const options of untrusting) {
    const rig = await tlsRig(t, options);
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'tls-failed'));
    assert.equal(rig.server.received.length, 0);
  }
});

test('a certificate for another name is not taken', async (t) => {
  const rig = await tlsRig(t, { tls: authority.issueServer([]), outbound: { ca: authority.cert } });
  await works(rig);
  const options: HttpRigOptions = {
    outbound: { ca: authority.cert },
    url: ({ port }) => `https://localhost:${port}/mcp`,
  };
  const wrong = await tlsRig(t, { ...options, tls: authority.issueServer(['elsewhere.test']) });
  await assert.rejects(wrong.tool('echo'), failure('server-unavailable', 'tls-failed'));
  await works(await tlsRig(t, options));
});

test('a client certificate opens a server that asks for one', async (t) => {
  const tls = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const { cert, key } = authority.issueClient('portico');
  await works(await tlsRig(t, { tls, config: { tls: { ca: authority.cert, cert, key } } }));
  await works(await tlsRig(t, { tls, config: { tls: { cert, key } }, outbound: { ca: authority.cert } }));
  const stray = stranger.issueClient('portico');
  for (const credentials of [{}, { cert: stray.cert, key: stray.key }]) {
    const rig = await tlsRig(t, { tls, config: { tls: { ca: authority.cert, ...credentials } } });
    await assert.rejects(rig.tool('echo'), (thrown) => {
      assert.ok(thrown instanceof Error && 'code' in thrown && thrown.code === 'server-unavailable');
      return true;
    });
    assert.equal(rig.server.received.length, 0);
  }
});

/** undici keeps its long timeouts on a slow clock of its own, which its own tests put forward. */
const undiciClock = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms: number): void };

const HOST = 'mcp.internal.test';

test('requests to a plain server go through the proxy, streams and all', async (t) => {
  const hosts: Record<string, number> = {};
  const proxy = await startHttpProxy(t, hosts);
  const rig = await modernRig(t, {
    outbound: { proxy: proxy.url },
    url: (behind) => {
      hosts[HOST] = behind.port;
      return `http://${HOST}/mcp?key=1`;
    },
  });
  await works(rig);
  rig.server.fault('tools/call', { framing: 'events' });
  const steps: unknown[] = [];
  const onMessage = ({ params }: { params?: { progress?: unknown } }) => void steps.push(params?.progress);
  await rig.tool('progress', { everyMs: 5 }, { token: 1, onMessage });
  assert.deepEqual(steps, [1, 2, 3]);
  assert.deepEqual(new Set(proxy.seen), new Set([`POST http://${HOST}/mcp?key=1`]));
  assert.equal(rig.server.received[0]?.headers.host, HOST);
});

test('loopback servers, and the hosts of noProxy, are reached without the proxy', async (t) => {
  const proxy = await startHttpProxy(t, {});
  await works(await modernRig(t, { outbound: { proxy: proxy.url } }));
  const named = await modernRig(t, {
    outbound: { proxy: proxy.url, noProxy: ['internal.test'] },
    url: () => `http://${HOST}/mcp`,
  });
  // Without the proxy nobody knows that name.
  await assert.rejects(named.tool('echo'), failure('server-unavailable', 'connect-failed'));
  assert.deepEqual(proxy.seen, []);
});

test('requests to a TLS server go through a tunnel, which sees nothing of them', async (t) => {
  const hosts: Record<string, number> = {};
  for (const proxyTls of [undefined, authority.issueServer()]) {
    const proxy = await startHttpProxy(t, hosts, proxyTls);
    const { cert, key } = authority.issueClient('portico');
    const rig = await tlsRig(t, {
      tls: { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
      config: { tls: { cert, key }, headers: { 'X-Api-Key': 'secret' } },
      outbound: { proxy: proxy.url.replace('://', '://user:pa%20ss@'), ca: authority.cert },
      url: (behind) => {
        hosts[HOST] = behind.port;
        return `https://${HOST}:${behind.port}/mcp`;
      },
    });
    await works(rig);
    assert.deepEqual(proxy.seen, [`CONNECT ${HOST}:${rig.server.port}`]);
    const credentials = Buffer.from('user:pa ss').toString('base64');
    assert.equal(proxy.headers[0]?.['proxy-authorization'], `Basic ${credentials}`);
    assert.ok(!JSON.stringify(proxy.headers).includes('secret'));
    assert.equal(rig.server.received[0]?.headers['proxy-authorization'], undefined);
  }
});

test('a proxy that refuses, or is not there, is a failure of the way, not of the caller', async (t) => {
  const hosts: Record<string, number> = {};
  const proxy = await startHttpProxy(t, hosts);
  const behindTls = await tlsRig(t, {
    outbound: { proxy: proxy.url, ca: authority.cert },
    url: () => `https://${HOST}/mcp`,
  });
  for (const status of [407, 502]) {
    proxy.refuseWith = status;
    await assert.rejects(behindTls.tool('echo'), failure('server-unavailable', 'proxy-failed'));
  }
  const plain = await modernRig(t, { outbound: { proxy: proxy.url }, url: () => `http://${HOST}/mcp` });
  await assert.rejects(plain.tool('echo'), failure('server-unavailable', 'http-status'));
  proxy.refuseWith = 407;
  await assert.rejects(plain.tool('echo'), failure('server-unavailable', 'proxy-failed'));
  const nobody = await modernRig(t, {
    outbound: { proxy: 'http://127.0.0.1:1' },
    url: () => `http://${HOST}/mcp`,
  });
  await assert.rejects(nobody.tool('echo'), failure('server-unavailable', 'connect-failed'));
});

test('a proxy that never answers CONNECT is given up like a dead host, and holds nobody after that', async (t) => {
  let tunnels = 0;
  const asked = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => {
      tunnels += 1;
      asked.resolve();
    });
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const rig = await modernRig(t, {
    outbound: { proxy: `http://127.0.0.1:${port}` },
    url: () => `https://${HOST}/mcp`,
  });
  const call = assert.rejects(rig.tool('echo'), failure('server-unavailable', 'proxy-failed'));
  await asked.promise;
  undiciClock.tick(1_000);
  await new Promise(setImmediate);
  undiciClock.tick(11_000);
  await call;
  assert.equal(tunnels, 1);
});

test('a cancelled call through a proxy is closed behind it too', async (t) => {
  const hosts: Record<string, number> = {};
  const proxy = await startHttpProxy(t, hosts);
  const rig = await modernRig(t, {
    outbound: { proxy: proxy.url, maxConnections: { calls: 1 } },
    url: (behind) => {
      hosts[HOST] = behind.port;
      return `http://${HOST}/mcp`;
    },
  });
  for (let n = 1; n <= 3; n += 1) {
    const stop = new AbortController();
    const call = rig.tool('never', {}, { signal: stop.signal });
    const request = await rig.server.request('tools/call', n);
    stop.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    assert.equal(await request.ended, 'broken');
  }
});

test('HTTP+SSE has the same ways out', async (t) => {
  const rig = await sseRig(t, { tls: server, outbound: { ca: authority.cert } });
  await works(rig);
});

test('an agent is made once a server and use, and is gone when the server is', async (t) => {
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  t.after(() => outbound.close());
  const one: HttpServerConfig = httpServerConfig('http://127.0.0.1:1/');
  const calls = outbound.dispatcherFor(one, 'calls');
  assert.equal(outbound.dispatcherFor(one, 'calls'), calls);
  assert.equal(
    outbound.dispatcherFor({ ...one, type: 'sse' }, 'calls'),
    calls,
    'a variant of the same server',
  );
  assert.notEqual(outbound.dispatcherFor(one, 'streams'), calls);
  assert.notEqual(outbound.dispatcherFor({ ...one, slug: 'other' }, 'calls'), calls);
  assert.notEqual(outbound.dispatcherFor({ ...one, tls: { ca: authority.cert } }, 'calls'), calls);
  await outbound.release(one);
  assert.notEqual(outbound.dispatcherFor(one, 'calls'), calls);
  await Promise.all([outbound.close(), outbound.close()]);
});

test('an idle connection is let go before any server would close it, and used again until then', async (t) => {
  const rig = await modernRig(t);
  for (let n = 0; n < 5; n += 1) await works(rig);
  // The next call may be sent a moment before the connection of the last one is free again.
  assert.ok(new Set(rig.server.received.map(({ connection }) => connection)).size <= 2);
  const startedAt = performance.now();
  await rig.server.until(() => rig.server.openConnections === 0);
  assert.ok(performance.now() - startedAt < 10_000);
  await works(rig);
});
