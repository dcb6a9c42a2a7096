// Tools that a server of 2025-11-25 runs as tasks only, for clients that know no such tasks: real
// servers of the SDK, over both wires.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ACCEPTED, inputRequiredOf } from '../../support/parked-client.ts';
import type { Members, Message } from '../../support/raw-client.ts';
import { ModernClient, openSession, textOf } from '../../support/raw-session.ts';
import { type ServerProcess, startHttpServer, stdioCommand } from '../../support/sdk-server-process.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../../support/start-gateway.ts';

const CAPABILITIES = { elicitation: {} };
const calling = (name: string, text = ''): Members => ({ name, arguments: { text } });

for (const wire of ['stdio', 'http'] as const) {
  describe(`over ${wire}`, () => {
    let server: ServerProcess | undefined;
    let gateway: StartedGateway;
    let client: ModernClient;
    before(async () => {
      server = wire === 'http' ? await startHttpServer('sdk-task-server') : undefined;
      gateway = await startGateway(serverOf(server));
      client = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
    });
    after(async () => {
      await client[Symbol.asyncDispose]();
      await gateway.close();
      await server?.stop();
    });

    test('such a tool is called like any other, and nothing says that it is a task', async () => {
      const { result: discovered = {} } = await client.ask('server/discover');
      assert.equal((discovered.capabilities as Members).tasks, undefined);
      const { result: listed = {} } = await client.ask('tools/list');
      for (const tool of listed.tools as Members[]) assert.equal(tool.execution, undefined);
      const answer = await client.ask('tools/call', calling('shout', 'hello'));
      assert.equal(textOf(answer), 'HELLO');
      assert.equal(answer.result?.resultType, 'complete');
      assert.doesNotMatch(JSON.stringify(answer), /related-task|taskId/);
    });

    test('what it asks is asked of its caller, whichever of them asks first', async () => {
      const asked = await Promise.all(
        ['first', 'second', 'third'].map(async (text) => {
          const required = inputRequiredOf(await client.ask('tools/call', calling('ask_name', text)));
          const [[key, question] = ['']] = Object.entries(required.inputRequests as Record<string, Message>);
          assert.equal(question?.params?.message, text);
          assert.doesNotMatch(JSON.stringify(question), /task/i);
          return { text, key, required };
        }),
      );
      for (const { text, key, required } of asked.reverse()) {
        const { requestState } = required;
        const retry = { ...calling('ask_name', text), requestState, inputResponses: { [key]: ACCEPTED } };
        assert.equal(textOf(await client.ask('tools/call', retry)), `${text} Ada`);
      }
    });

    test('F26: a caller who leaves cancels the task', async () => {
      const call = client.start('tools/call', calling('never'));
      while ((await statuses(client)).at(-1) !== 'working');
      call.abort();
      while ((await statuses(client)).at(-1) !== 'cancelled');
    });
  });
}

test('on a link that all share nobody has tasks: neither asked for, nor asked about', async (t) => {
  const gateway = await startGateway({
    stdio: { ...stdioCommand('sdk-task-server'), isolation: 'shared' },
  });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url);
  const methods = ['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel'];
  for (const method of methods) assert.equal((await session.ask(method)).error?.code, -32601, method);
  const { result, error } = await session.ask('tools/call', { ...calling('shout'), task: { ttl: 1_000 } });
  assert.equal(result?.task, undefined, JSON.stringify(error));
  assert.deepEqual(JSON.parse(textOf(await session.ask('tools/call', calling('statuses')))), []);
});

async function statuses(client: ModernClient): Promise<string[]> {
  return JSON.parse(textOf(await client.ask('tools/call', calling('statuses')))) as string[];
}

function serverOf(server: ServerProcess | undefined): StartOptions {
  return server ? { http: { url: server.url } } : { stdio: stdioCommand('sdk-task-server') };
}
