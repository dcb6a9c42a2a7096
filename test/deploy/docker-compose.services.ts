// The compose file, as its users start it: two gateways behind nginx, Redis, Prometheus. Needs a Docker engine with
// compose and BuildKit.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { type ComposeStack, startCompose } from '../support/compose-stack.ts';
import { docker } from '../support/docker.ts';
import { eventually } from '../support/eventually.ts';
import { CLIENT_KINDS, connectClient, type SdkClient } from '../support/sdk-clients.ts';

const SERVICES = ['portico-1', 'portico-2', 'nginx', 'redis', 'prometheus', 'everything'];
const CALLERS = 6;
const LONGER_MS = 3_000;
const ECHOED = /^portico_tool_calls_total\{server="everything",tool="echo",outcome="ok"\} (\d+)$/m;

describe('docker compose up', () => {
  let stack: ComposeStack;

  const metricsOf = async (adminUrl: string) => {
    const { body } = await request(`${adminUrl}/metrics`);
    return body.text();
  };
  const echoed = async () => {
    const scrapes = await Promise.all(stack.adminUrls.map(metricsOf));
    return scrapes.map((scrape) => Number(ECHOED.exec(scrape)?.[1] ?? 0));
  };
  const publishedBy = async (service: string) => {
    const format = '{{json .NetworkSettings.Ports}}';
    const told = await docker(['inspect', '--format', format, await stack.idOf(service)]);
    return Object.values(JSON.parse(told) as Record<string, { HostIp: string }[] | null>).flatMap(
      (published) => published ?? [],
    );
  };

  before(
    async () => {
      stack = await startCompose({ name: 'test', network: 251 });
    },
    { timeout: 600_000 },
  );
  after(() => stack[Symbol.asyncDispose](), { timeout: 90_000 });

  test('publishes ports to this machine only, and none of Redis', async () => {
    const published = await Promise.all(SERVICES.map(publishedBy));
    assert.deepEqual(
      published.map(({ length }) => length),
      [1, 1, 1, 0, 1, 0],
    );
    assert.deepEqual([...new Set(published.flat().map(({ HostIp }) => HostIp))], ['127.0.0.1']);
  });

  test('passes the smoke test, as docs/deploy.md has it', async () => {
    const said = await stack.typed(
      'npm run smoke -- http://127.0.0.1:8080/mcp --admin http://127.0.0.1:9091 --admin http://127.0.0.1:9092',
    );
    assert.equal(said.match(/^ok /gm)?.length, 4, said);
  });

  test('the smoke test fails where something is wrong', async () => {
    await assert.rejects(stack.typed('npm run smoke -- http://127.0.0.1:8080/mcp --tool no-such-tool'), {
      code: 1,
      stdout: /FAILED {2}modern client: no tool "no-such-tool" is listed/,
    });
  });

  for (const kind of CLIENT_KINDS) {
    test(`the client ${kind} initializes, lists and calls through it`, async () => {
      await using client = await connectClient(kind, stack.url);
      assert.ok((await client.listTools()).includes('echo'));
      assert.equal((await client.call('echo', { message: 'hello' })).text, 'Echo: hello');
    });
  }

  test('both gateways serve, count in one Redis, and know of each other', async () => {
    await using client = await connectClient('v2 modern', stack.url);
    const before = await echoed();
    for (let call = 0; call < 4; call += 1) await client.call('echo', { message: 'hello' });
    assert.deepEqual(
      await echoed(),
      before.map((count) => count + 2),
    );
    for (const adminUrl of stack.adminUrls) {
      await eventually('it has heard of the other', async () =>
        /^portico_replicas 2$/m.test(await metricsOf(adminUrl)),
      );
    }
    assert.match(await stack.compose('exec', 'redis', 'redis-cli', 'KEYS', 'portico:limit:guard:*'), /\S/);
  });

  test('a progress notification arrives before the answer does: nginx holds nothing back (F42)', async () => {
    await using client = await connectClient('v2 modern', stack.url);
    const seen: number[] = [];
    let answered = false;
    const call = client
      .call(
        'trigger-long-running-operation',
        { duration: 2, steps: 2 },
        { onprogress: ({ progress }) => seen.push(progress) },
      )
      .then(() => {
        answered = true;
      });
    await eventually('the first progress', () => seen.length > 0);
    assert.equal(answered, false);
    await call;
  });

  test('Prometheus scrapes both, and has read the alerts', async () => {
    const ask = async (path: string) => {
      const { body } = await request(`${stack.prometheusUrl}/api/v1/${path}`);
      return (await body.json()) as { data: { result: { value: [number, string] }[]; groups: unknown[] } };
    };
    await eventually('both are up', async () => {
      const { data } = await ask(`query?query=${encodeURIComponent('up{job="portico"} == 1')}`);
      return data.result.length === 2;
    });
    assert.ok((await ask('rules')).data.groups.length > 0);
  });

  test('the admin token of this installation opens /status, no other does', async () => {
    const said = await stack.typed(
      'curl -H "Authorization: Bearer $(docker compose exec portico-2 cat /run/portico/admin-token)" http://127.0.0.1:9092/status',
    );
    assert.ok('everything' in (JSON.parse(said) as { servers: object }).servers);
    const headers = { authorization: `Bearer ${'0'.repeat(64)}` };
    const { statusCode, body } = await request(`${stack.adminUrls[1]}/status`, { headers });
    await body.dump();
    assert.equal(statusCode, 401);
  });

  test('runs as no root, with root file systems that nobody writes to', async () => {
    for (const service of SERVICES) {
      assert.notEqual(await stack.compose('exec', service, 'id', '-u'), '0', service);
      await assert.rejects(
        stack.compose('exec', service, 'touch', '/etc/file'),
        /Read-only file system/,
        service,
      );
    }
  });

  test('F60: a gateway that is killed is not noticed by modern clients, but for the calls that it had begun', async (t) => {
    const failures: { readonly begunMs: number; readonly what: string; readonly error: unknown }[] = [];
    const done = { list: 0, call: 0 };
    let over = false;
    const onAndOn = async (client: SdkClient) => {
      while (!over) {
        for (const what of ['list', 'call'] as const) {
          const begunMs = performance.now();
          const asked = what === 'list' ? client.listTools() : client.call('echo', { message: 'hello' });
          await asked.then(
            () => {
              done[what] += 1;
            },
            (error: unknown) => failures.push({ begunMs, what, error }),
          );
        }
      }
    };
    const clients = await Promise.all(
      Array.from({ length: CALLERS }, () => connectClient('v2 modern', stack.url)),
    );
    const older = await Promise.all([1, 2].map(() => connectClient('v1', stack.url)));
    const callers = clients.map(onAndOn);
    await eventually('calls go on', () => done.call > 10 * CALLERS);

    await docker(['kill', await stack.idOf('portico-1')]);
    const goneMs = performance.now();
    const before = { ...done };
    await delay(LONGER_MS);
    over = true;
    await Promise.all(callers);

    const told = failures.map(({ what, error }) => `${what}: ${error}`).join('\n');
    t.diagnostic(
      `${done.call} calls, ${done.list} lists; begun at the killed one: ${failures.length}\n${told}`,
    );
    assert.ok(done.call > before.call && done.list > before.list, 'calls went on');
    assert.deepEqual(
      failures.filter(({ begunMs, what }) => what === 'list' || begunMs > goneMs),
      [],
      told,
    );
    assert.ok(failures.length <= CALLERS, 'each client lost one call at most');
    for (const { error } of failures) assert.match(String(error), /went away; a call may have run/);
    for (const client of older) {
      const { text } = await client.call('echo', { message: 'still here' });
      assert.equal(text, 'Echo: still here', 'sessions of older clients go on at the other');
    }

    await docker(['start', await stack.idOf('portico-1')]);
    const [client] = clients;
    const [earlier = 0] = await echoed().catch(() => [0]);
    await eventually(
      'it is called again',
      async () => {
        await client?.call('echo', { message: 'hello' });
        const [count = 0] = await echoed().catch(() => [0]);
        return count > earlier;
      },
      60_000,
    );
    await Promise.all([...clients, ...older].map((each) => each[Symbol.asyncDispose]()));
  });

  test('ends with code 0 when told to stop', async () => {
    const id = await stack.idOf('portico-2');
    await stack.compose('stop', '--timeout', '40', 'portico-2');
    assert.equal(await docker(['inspect', '--format', '{{.State.ExitCode}}', id]), '0');
  });
});
