// The Inspector's command line as the client, in both of its modes, to servers of both eras.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { inspect } from '../support/inspector.ts';
import { greeting, WELCOME } from '../support/sdk-features.ts';
import { type ServerProcess, startHttpServer, stdioCommand } from '../support/sdk-server-process.ts';

describe('the Inspector', () => {
  let http: ServerProcess;
  const gateways = new Map<'stdio' | 'http', GatewayProcess>();

  before(async () => {
    http = await startHttpServer('sdk-v2-server');
    gateways.set(
      'stdio',
      await startGateway({ config: { mcpServers: { notes: stdioCommand('sdk-v1-server') } } }),
    );
    gateways.set('http', await startGateway({ config: { mcpServers: { notes: { url: http.url } } } }));
  });
  after(async () => {
    for (const gateway of gateways.values()) assert.equal(await gateway.stop(), 0);
    await http.stop();
  });

  const add = ['--method', 'tools/call', '--tool-name', 'add', '--tool-args-json', '{"a":2,"b":3}'];
  const urlOf = (over: 'stdio' | 'http') => gateways.get(over)?.url ?? '';

  for (const [over, era] of [
    ['stdio', 'legacy'],
    ['http', 'modern'],
  ] as const) {
    test(`in its ${era} mode lists, calls, reads and gets from a ${era} server over ${over}`, async () => {
      const url = urlOf(over);
      const list = (await inspect(url, era, '--method', 'tools/list')) as { tools: { name: string }[] };
      assert.ok(list.tools.some(({ name }) => name === 'echo'));

      const sum = (await inspect(url, era, ...add)) as { structuredContent: unknown };
      assert.deepEqual(sum.structuredContent, { sum: 5 });

      const read = (await inspect(url, era, '--method', 'resources/read', '--uri', WELCOME.uri)) as {
        contents: { text: string }[];
      };
      assert.equal(read.contents[0]?.text, WELCOME.text);

      const get = ['--method', 'prompts/get', '--prompt-name', 'greet', '--prompt-args', 'name=Ada'];
      const prompt = (await inspect(url, era, ...get)) as { messages: { content: { text: string } }[] };
      assert.equal(prompt.messages[0]?.content.text, greeting('Ada'));
    });
  }

  for (const [over, era, serverEra] of [
    ['stdio', 'modern', 'legacy'],
    ['http', 'legacy', 'modern'],
  ] as const) {
    test(`in its ${era} mode calls a ${serverEra} server over ${over}, on the server's own view`, async () => {
      const sum = (await inspect(`${urlOf(over)}/notes`, era, ...add)) as { structuredContent: unknown };
      assert.deepEqual(sum.structuredContent, { sum: 5 });
    });
  }
});
