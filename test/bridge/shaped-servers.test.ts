// Servers that show other things to clients that can do more: each client sees, and can
// use, what there is for its own features, be it of either era.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { stdioCommand } from '../support/sdk-server-process.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

type Client = Pick<RawSession, 'ask'> & AsyncDisposable;
const CLIENTS = {
  legacy: (url: string, capabilities: Members): Promise<Client> => openSession(url, { capabilities }),
  modern: async (url: string, capabilities: Members): Promise<Client> =>
    new ModernClient(url, { capabilities }),
};
const ERAS = ['legacy', 'modern'] as const;

for (const server of ERAS) {
  describe(`a ${server} server, made with an SDK, that needs a model for one of its tools`, () => {
    let gateway: StartedGateway;
    before(async () => {
      gateway = await startGateway({ stdio: stdioCommand('sdk-shaping-server', server) });
    });
    after(() => gateway.close());

    for (const era of ERAS) {
      test(`shows it to ${era} clients that can sample, and to no others`, async () => {
        for (const [capabilities, names] of [
          [{ sampling: {} }, ['plain', 'summarize']],
          [{ elicitation: {} }, ['plain']],
          [{ sampling: {} }, ['plain', 'summarize']],
        ] as const) {
          await using client = await CLIENTS[era](gateway.url, capabilities);
          assert.deepEqual(await toolNames(client), names);
          const called = await client.ask('tools/call', { name: 'summarize', arguments: {} });
          const isThere = names.length === 2;
          assert.equal(called.error?.code, isThere ? undefined : -32602, JSON.stringify(called));
          // Once it has a link of its own as well.
          assert.deepEqual(await toolNames(client), names);
        }
      });
    }
  });
}

for (const server of ERAS) {
  for (const era of ERAS) {
    test(`a ${era} client is introduced to a ${server} server by what that says to clients of its features`, async (t) => {
      const faulty = await startFaultyHttpServer({ era: server });
      const gateway = await startGateway({ http: { url: faulty.url } });
      t.after(async () => {
        await gateway.close();
        await faulty.close();
      });
      await using client = await CLIENTS[era](gateway.url, { sampling: {}, roots: { listChanged: true } });
      if (era === 'modern') await client.ask('server/discover');
      const method = server === 'legacy' ? 'initialize' : 'server/discover';
      const declared = faulty.requests(method).map(({ message }) => declaredIn(message));
      const own = era === 'modern' && server === 'modern' ? { listChanged: true } : {};
      assert.deepEqual(declared.at(-1), { sampling: {}, roots: own });
      assert.deepEqual(declared[0], {}, 'the link that is opened at boot is nobody’s');
    });
  }
}

test('a server that does not answer this client is introduced by what it says to anybody', async (t) => {
  const faulty = await startFaultyHttpServer({ era: 'legacy' });
  const gateway = await startGateway({ http: { url: faulty.url } });
  t.after(async () => {
    await gateway.close();
    await faulty.close();
  });
  await using first = new ModernClient(gateway.url);
  const { result } = await first.ask('server/discover');
  faulty.fault('initialize', { answer: { status: 500 } });
  await using client = new ModernClient(gateway.url, { capabilities: { sampling: {} } });
  assert.deepEqual((await client.ask('server/discover')).result, result);
});

async function toolNames(client: Client): Promise<string[]> {
  const { result = {} } = await client.ask('tools/list');
  return (result.tools as { name: string }[]).map(({ name }) => name).toSorted();
}

function declaredIn(message: { params?: Members } | undefined): unknown {
  const { capabilities, _meta } = message?.params ?? {};
  return capabilities ?? (_meta as Members)['io.modelcontextprotocol/clientCapabilities'];
}
