// The official clients of each era and mode, against several real servers as one: over pipes and HTTP, of both eras.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { USER_NAME } from '../support/sdk-client-answers.ts';
import { CLIENT_KINDS, connectClient, type SdkClient } from '../support/sdk-clients.ts';
import { greeting, WELCOME } from '../support/sdk-features.ts';
import { type ServerProcess, startHttpServer, stdioCommand } from '../support/sdk-server-process.ts';

const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

describe('three servers as one', () => {
  let http: ServerProcess;
  let gateway: GatewayProcess;
  let client: SdkClient;

  before(async () => {
    http = await startHttpServer('sdk-v2-server');
    const config = {
      mcpServers: {
        pipe: stdioCommand('sdk-v1-server'),
        web: { url: http.url },
        everything: { command: process.execPath, args: [EVERYTHING, 'stdio'], prefix: 'all' },
      },
    };
    gateway = await startGateway({ config });
  });
  after(async () => {
    assert.equal(await gateway.stop(), 0);
    await http.stop();
  });

  for (const kind of CLIENT_KINDS) {
    describe(`a client of ${kind}`, () => {
      before(async () => {
        client = await connectClient(kind, gateway.url);
      });
      after(() => client[Symbol.asyncDispose]());

      test('sees one server with the tools of all', async () => {
        assert.equal(client.serverName, 'portico');
        const tools = await client.listTools();
        assert.equal(new Set(tools).size, tools.length);
        for (const name of ['pipe__echo', 'web__echo', 'all__echo']) assert.ok(tools.includes(name), name);
        for (const name of tools) assert.match(name, /^(pipe|web|all)__[A-Za-z0-9_-]{1,60}$/);
        assert.ok((await client.listResources()).includes(`web+${WELCOME.uri}`));
        assert.ok((await client.listTemplates()).some((template) => template.startsWith('pipe+note://')));
      });

      for (const slug of ['pipe', 'web']) {
        test(`calls, reads, gets and completes at ${slug}`, async () => {
          assert.equal((await client.call(`${slug}__echo`, { text: 'hi' })).text, 'hi');
          assert.equal(await client.readText(`${slug}+${WELCOME.uri}`), WELCOME.text);
          assert.equal(await client.promptText(`${slug}__greet`, { name: 'Ada' }), greeting('Ada'));
          const ref = { type: 'ref/prompt', name: `${slug}__greet` } as const;
          const values = await client.complete({ ref, argument: { name: 'name', value: 'A' } });
          assert.deepEqual(values, ['Ada', 'Alan']);
        });

        test(`is asked by ${slug}, and told so`, async () => {
          const { text = '' } = await client.call(`${slug}__ask_name`);
          assert.ok(text.includes(USER_NAME), text);
          const { params } = client.questions.of('elicitation/create').at(-1) ?? {};
          assert.ok(String(params?.message).startsWith(`[${slug}] `), String(params?.message));
        });
      }

      test('calls a server that npm has', async () => {
        const { text } = await client.call('all__echo', { message: 'hi' });
        assert.equal(text, 'Echo: hi');
      });
    });
  }
});
