// Five real servers as one: four that npm has, over pipes, and a modern one over HTTP. Every tool of each is called by
// each of the SDKs' clients, and the Inspector's command line lists them all and calls some.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { inspect } from '../support/inspector.ts';
import { CLIENT_KINDS, type ClientKind, connectClient, type SdkClient } from '../support/sdk-clients.ts';
import { type ServerProcess, startHttpServer } from '../support/sdk-server-process.ts';
import {
  everythingCalls,
  filesCalls,
  makeCall,
  memoryCalls,
  researchAt,
  sdkServerCalls,
  THINKING_CALLS,
  type ToolCalls,
} from '../support/tool-calls.ts';

const require = createRequire(import.meta.url);

const SLUGS = ['everything', 'files', 'memory', 'thinking', 'web'] as const;
const ASKING = /^everything__trigger-(?:elicitation|url-elicitation|sampling)/;

describe('five servers as one', () => {
  let folder: string;
  let http: ServerProcess;
  let gateway: GatewayProcess;
  const clients = new Map<ClientKind, SdkClient>();
  /** They take seconds, so they begin first and are looked at last. */
  const reports = new Map<ClientKind, Promise<string>>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'five-servers-'));
    http = await startHttpServer('sdk-v2-server');
    const mcpServers: Record<(typeof SLUGS)[number], unknown> = {
      everything: { ...npmServer('everything', 'stdio'), env: { FIVE_SERVERS: 'everything' } },
      files: npmServer('filesystem', folder),
      memory: { ...npmServer('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
      thinking: npmServer('sequential-thinking'),
      web: { url: http.url },
    };
    gateway = await startGateway({ config: { mcpServers } });
    for (const kind of CLIENT_KINDS) {
      const client = await connectClient(kind, gateway.url);
      clients.set(kind, client);
      const report = researchAt(client, 'everything__simulate-research-query');
      report.catch(() => {});
      reports.set(kind, report);
    }
  });
  after(async () => {
    for (const client of clients.values()) await client[Symbol.asyncDispose]();
    assert.equal(await gateway.stop(), 0);
    await http.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const callsOf = (slug: (typeof SLUGS)[number], kind: ClientKind): ToolCalls => {
    const own = kind.replace(' ', '-');
    switch (slug) {
      case 'everything':
        return everythingCalls(reports.get(kind) ?? Promise.reject(), slug);
      case 'files':
        return filesCalls(join(folder, own));
      case 'memory':
        return memoryCalls(own);
      case 'thinking':
        return THINKING_CALLS;
      case 'web':
        return sdkServerCalls(own);
    }
  };

  // The one with the reports comes last.
  for (const slug of SLUGS.toReversed()) {
    for (const kind of CLIENT_KINDS) {
      test(`every tool of ${slug} is called by a client of ${kind}`, async () => {
        const client = clients.get(kind) as SdkClient;
        const calls = callsOf(slug, kind);
        const prefix = `${slug}__`;
        const listed = (await client.listTools()).filter((name) => name.startsWith(prefix));
        const expected = Object.keys(calls).map((name) => prefix + name);
        assert.deepEqual(listed.sort(), expected.sort());
        for (const [name, call] of Object.entries(calls)) await makeCall(client, prefix + name, call);
      });
    }
  }

  test("the Inspector's command line lists every tool of all, and calls some", async () => {
    const call = (name: string, args: object) => {
      const how = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
      return inspect(gateway.url, 'legacy', ...how) as Promise<{ structuredContent: unknown }>;
    };
    const entities = [{ name: 'Inspector', entityType: 'client', observations: ['patient'] }];
    const listing = inspect(gateway.url, 'modern', '--method', 'tools/list');
    const [list, created, sum] = await Promise.all([
      listing as Promise<{ tools: { name: string }[] }>,
      call('memory__create_entities', { entities }),
      call('web__add', { a: 2, b: 3 }),
    ]);
    const client = clients.get('v2 modern') as SdkClient;
    // It says that it cannot be asked, and that server then has no tool that asks.
    const expected = (await client.listTools()).filter((name) => !ASKING.test(name));
    assert.deepEqual(list.tools.map(({ name }) => name).sort(), expected.sort());
    assert.deepEqual(created.structuredContent, { entities });
    assert.deepEqual(sum.structuredContent, { sum: 5 });
  });
});

function npmServer(name: string, ...args: string[]) {
  const script = require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  return { command: process.execPath, args: [script, ...args] };
}
