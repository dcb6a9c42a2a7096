// Real clients to real servers through Portico as users run it: every SDK client and mode, with servers of both SDKs
// and eras over both transports.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import {
  CLIENT_KINDS,
  connectClient,
  MODEL_WORD,
  type SdkClient,
  USER_NAME,
} from '../support/sdk-clients.ts';
import { greeting, noteText, WELCOME } from '../support/sdk-features.ts';
import {
  type ServerProcess,
  type ServerScript,
  startHttpServer,
  stdioCommand,
} from '../support/sdk-server-process.ts';

interface ServerCase {
  readonly name: string;
  readonly script: ServerScript;
  readonly over: 'stdio' | 'http';
}

const SERVERS: readonly ServerCase[] = (['stdio', 'http'] as const).flatMap((over) => [
  { name: `a legacy server over ${over} (SDK v1)`, script: 'sdk-v1-server', over },
  { name: `a modern server over ${over} (SDK v2)`, script: 'sdk-v2-server', over },
]);

for (const { name, script, over } of SERVERS) {
  describe(name, () => {
    let server: ServerProcess | undefined;
    let gateway: GatewayProcess;

    before(async () => {
      server = over === 'http' ? await startHttpServer(script) : undefined;
      // A secret on its way to the server, which no line of the log may hold (F58).
      const secret = `canary-${randomUUID()}`;
      const stdio = stdioCommand(script);
      const sdk = server
        ? { url: server.url, headers: { 'X-Api-Key': `\${UPSTREAM_KEY}` } }
        : { ...stdio, env: { ...stdio.env, API_KEY: `\${UPSTREAM_KEY}` } };
      const config = { mcpServers: { sdk }, gateway: { log: { level: 'trace' } } };
      gateway = await startGateway({ config, env: { UPSTREAM_KEY: secret }, secrets: [secret] });
    });
    after(async () => {
      assert.equal(await gateway.stop(), 0);
      await server?.stop();
    });

    for (const kind of CLIENT_KINDS) {
      describe(`with the client ${kind}`, () => {
        let client: SdkClient;
        before(async () => {
          client = await connectClient(kind, gateway.url);
        });
        after(() => client[Symbol.asyncDispose]());

        test('lists what the server has, under its own names', async () => {
          assert.deepEqual((await client.listTools()).toSorted(), [
            'add',
            'ask_model',
            'ask_name',
            'count',
            'echo',
            'fail',
            'wait',
            'was_cancelled',
          ]);
          assert.deepEqual(await client.listResources(), [WELCOME.uri]);
          assert.deepEqual(await client.listTemplates(), ['note://{name}']);
          assert.deepEqual(await client.listPrompts(), ['greet']);
        });

        test('calls a tool and gets its content, structured content too', async () => {
          const text = 'ünïcode 🌍, a "quote" and\na line';
          assert.equal((await client.call('echo', { text })).text, text);
          const sum = await client.call('add', { a: 2, b: 3 });
          assert.equal(sum.text, '5');
          assert.deepEqual(sum.structuredContent, { sum: 5 });
        });

        test('gets the error that a tool ends with, as the result that it is', async () => {
          const answer = await client.call('fail');
          assert.equal(answer.isError, true);
          assert.match(answer.text ?? '', /failed as told/);
        });

        test('is told of an unknown tool', async () => {
          await assert.rejects(client.call('no_such_tool'), /no_such_tool|unknown|not found/i);
        });

        test('reads a resource, and one by its template', async () => {
          assert.equal(await client.readText(WELCOME.uri), WELCOME.text);
          assert.equal(await client.readText('note://shopping'), noteText('shopping'));
        });

        test('gets a prompt', async () => {
          assert.equal(await client.promptText('greet', { name: 'Ada' }), greeting('Ada'));
        });

        test('receives the progress of its call, in order', async () => {
          const seen: unknown[] = [];
          const onprogress = ({ progress, total }: { progress: number; total?: number | undefined }) => {
            seen.push([progress, total]);
          };
          const answer = await client.call('count', { to: 3 }, { onprogress });
          assert.equal(answer.text, 'counted to 3');
          assert.deepEqual(seen, [
            [1, 3],
            [2, 3],
            [3, 3],
          ]);
        });

        test('cancels a call, and the server hears of it (F26)', async () => {
          const tag = randomUUID();
          const aborter = new AbortController();
          const call = client.call(
            'wait',
            { tag },
            { signal: aborter.signal, onprogress: () => aborter.abort() },
          );
          await assert.rejects(call);
          assert.equal((await client.call('was_cancelled', { tag })).text, 'true');
        });

        test('is asked by the server, and the server gets the answers (F23)', async () => {
          assert.equal((await client.call('ask_name')).text, `Hello, ${USER_NAME}!`);
          assert.equal((await client.call('ask_model')).text, MODEL_WORD);
        });
      });
    }
  });
}
