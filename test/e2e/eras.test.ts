// Real clients to real servers through Portico as users run it: every SDK client and mode, with servers of both SDKs
// and eras over both transports. What holds for a feature holds in all twelve combinations, or the test says where not.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ERA_COMBINATIONS, ERA_FEATURES } from '../support/era-features.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { ROOT_URI } from '../support/sdk-client-answers.ts';
import { CLIENT_KINDS, connectClient, type SdkClient } from '../support/sdk-clients.ts';
import {
  type ServerProcess,
  type ServerScript,
  startHttpServer,
  stdioCommand,
} from '../support/sdk-server-process.ts';
import {
  featuresOf,
  testCallsAndNotices,
  testedCells,
  testQuestions,
  testWhatServersHave,
} from './era-feature-tests.ts';

interface ServerCase {
  readonly title: string;
  readonly name: ServerScript;
  readonly era: 'legacy' | 'modern';
  readonly over: 'stdio' | 'http';
}

const SERVERS: readonly ServerCase[] = (['stdio', 'http'] as const).flatMap((over) => [
  { title: `a legacy server over ${over} (SDK v1)`, name: 'sdk-v1-server', era: 'legacy', over },
  { title: `a modern server over ${over} (SDK v2)`, name: 'sdk-v2-server', era: 'modern', over },
]);
const FIXED_ROOT = 'file:///srv/shared';

for (const { title, name: script, era, over } of SERVERS) {
  describe(title, () => {
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
      const config = {
        mcpServers: {
          allow: { ...sdk, client: { roots: 'allow' } },
          deny: { ...sdk, client: { roots: 'deny' } },
          fixed: { ...sdk, client: { roots: [{ uri: FIXED_ROOT }] } },
        },
        gateway: { log: { level: 'trace' } },
      };
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
          client = await connectClient(kind, `${gateway.url}/allow`);
        });
        after(() => client[Symbol.asyncDispose]());

        testWhatServersHave(() => client, { kind, era });
        testCallsAndNotices(() => client, { kind, era });
        testQuestions(() => client, { kind, era });

        featuresOf({ kind, era })('roots', 'as the config of the server says', async () => {
          assert.equal((await client.call('ask_roots')).text, ROOT_URI);
          await using denied = await connectClient(kind, `${gateway.url}/deny`);
          assert.equal((await denied.call('ask_roots')).text, 'refused');
          await using fixed = await connectClient(kind, `${gateway.url}/fixed`);
          assert.equal((await fixed.call('ask_roots')).text, FIXED_ROOT);
          assert.deepEqual([...denied.questions.all, ...fixed.questions.all], []);
        });
      });
    }
  });
}

test('every cell of the table in docs/eras.md has a test here', () => {
  const cells = ERA_FEATURES.flatMap((name) =>
    ERA_COMBINATIONS.map((combination) => `${name}: ${combination}`),
  );
  assert.deepEqual([...testedCells].toSorted(), cells.toSorted());
});
