// A server over HTTP that is replaced by one of the other era while our links to it are open (F36).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { isModern } from '../support/faulty-http-protocol.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

/** One address, with now this server behind it and now that one. */
async function startSwitch(t: TestContext): Promise<{ url: string; turnTo(port: number): void }> {
  let target = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {}).once('close', () => open.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    turnTo(port) {
      target = port;
      cut();
    },
  };
}

/** As a server does that has never heard of the older revisions. */
function refuseLegacy(server: FaultyHttpServer): void {
  const error = { code: -32602, message: 'params._meta must carry io.modelcontextprotocol/protocolVersion' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
  server.fault(({ message }) => message !== undefined && !isModern(message), {
    answer: { status: 400, type: 'application/json', body },
  });
}

async function eraOf(gateway: StartedGateway): Promise<unknown> {
  return (await gateway.status()).servers.faulty?.era;
}

for (const [before, after] of [
  ['legacy', 'modern'],
  ['modern', 'legacy'],
] as const) {
  test(`F36: ${before}, then ${after}: clients of both eras are served again, and go on being`, async (t) => {
    const old = await startFaultyHttpServer({ era: before });
    const fresh = await startFaultyHttpServer({ era: after });
    if (after === 'modern') refuseLegacy(fresh);
    const one = await startSwitch(t);
    one.turnTo(old.port);
    const gateway = await startGateway({ http: { url: one.url } });
    t.after(async () => {
      await gateway.close();
      await old.close();
      await fresh.close();
    });
    await using modern = new ModernClient(gateway.url);
    await using session = await openSession(gateway.url);
    for (const caller of [modern, session]) assert.equal(await caller.tool('echo', { text: before }), before);
    assert.equal(await eraOf(gateway), before);
    one.turnTo(fresh.port);
    for (const caller of [modern, session]) {
      let answer = await caller.ask('tools/call', { name: 'echo', arguments: { text: after } });
      // What was in the way when it changed may fail; nothing fails for ever.
      while (answer.result === undefined) {
        answer = await caller.ask('tools/call', { name: 'echo', arguments: { text: after } });
      }
    }
    assert.equal(await eraOf(gateway), after);
    for (const caller of [modern, session]) assert.equal(await caller.tool('echo', { text: 'well' }), 'well');
  });
}
