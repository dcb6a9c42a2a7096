// A server at run time, with real children below: how it starts, what era it is of, what its failures cost.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { StdioServerConfig } from '../../src/config/config.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Server } from '../../src/servers/server.ts';
import { failure } from '../support/http-rig.ts';
import { processesIn } from '../support/process-tree.ts';
import { callTool, openServer, temporaryFolder } from '../support/server-rig.ts';
import { FAULTY_SERVER, faultyConfig } from '../support/stdio-rig.ts';

/** A child whose era stands in the file `era` of its folder, so that it can change between two lives. */
async function changingServer(folder: string, era: string): Promise<Partial<StdioServerConfig>> {
  const script = `import { readFileSync } from 'node:fs';
    process.argv.push('--era=' + readFileSync('era', 'utf8'));
    await import(${JSON.stringify(pathToFileURL(FAULTY_SERVER).href)});`;
  await writeFile(join(folder, 'server.mjs'), script);
  await writeFile(join(folder, 'era'), era);
  return { args: ['server.mjs'], cwd: folder };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(5);
}

const linksOf = (server: Server) => server.status().links;

describe('the era of a child', { concurrency: true }, () => {
  for (const how of ['-32601', '-32602', '-32600', '-32000', 'garbage', 'exit']) {
    test(`F36: a legacy child that takes the probe with ${how} is recognised`, async (t) => {
      const { server } = openServer(t, faultyConfig(['--era=legacy', `--discover=${how}`]));
      const link = await server.catalogueLink();
      assert.equal(link.peer.era, 'legacy');
      assert.equal(await callTool(link, 'echo', { text: 'well' }), 'well');
    });
  }

  test('F36: a child that says nothing at all to the probe is legacy when its time is up', async (t) => {
    const { server } = openServer(
      t,
      faultyConfig(['--era=legacy', '--discover=silent'], { startTimeoutMs: 1_500 }),
    );
    assert.equal((await server.catalogueLink()).peer.era, 'legacy');
  });

  test('F36: a child that has spoken and leaves the probe unanswered is legacy soon after', async (t) => {
    const { server } = openServer(
      t,
      faultyConfig(['--era=legacy', '--discover=silent', '--start-delay=100'], { startTimeoutMs: 30_000 }),
    );
    assert.equal((await server.catalogueLink()).peer.era, 'legacy');
  });

  test('F14: a modern child that a chatty runner starts slowly is modern all the same', async (t) => {
    const { server } = openServer(t, faultyConfig(['--era=modern', '--start-delay=2600']));
    const link = await server.catalogueLink();
    assert.equal(link.peer.era, 'modern');
    assert.equal(await callTool(link, 'echo', { text: 'late' }), 'late');
  });

  test('F14: a legacy child that a chatty runner starts slowly is greeted once', async (t) => {
    const { server } = openServer(t, faultyConfig(['--era=legacy', '--start-delay=2600']));
    const received = JSON.parse(await callTool(await server.catalogueLink(), 'received')) as {
      method: string;
    }[];
    const methods = ['server/discover', 'initialize', 'notifications/initialized', 'tools/call'];
    assert.deepEqual(
      received.map(({ method }) => method),
      methods,
    );
  });

  test('F36: the verdict is kept: the next child of a legacy server is not probed', async (t) => {
    const { server } = openServer(t, faultyConfig(['--era=legacy']));
    await server.catalogueLink();
    const own = await server.ownLink({ key: 'a', owner: 'a', pinned: false, clientCapabilities: {} });
    assert.ok(!(await callTool(own, 'received')).includes('server/discover'));
  });

  for (const [before, after] of [
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const) {
    test(`F36: a ${before} child replaced by a ${after} one is recognised at its first start`, async (t) => {
      const folder = await temporaryFolder(t);
      const { server } = openServer(t, faultyConfig([], await changingServer(folder, before)));
      const old = await server.catalogueLink();
      assert.equal(old.peer.era, before);
      await writeFile(join(folder, 'era'), after);
      await assert.rejects(callTool(old, 'exit'), failure('server-unavailable', 'process-ended'));
      assert.equal((await server.catalogueLink()).peer.era, after);
      assert.equal(server.status().era, after);
    });
  }

  test('a server that must be modern and is not fails to start, and leaves no child', async (t) => {
    const cwd = await temporaryFolder(t);
    const { server } = openServer(t, faultyConfig(['--era=legacy'], { protocol: 'modern', cwd }));
    await assert.rejects(server.catalogueLink(), failure('server-unavailable', 'not-modern'));
    assert.deepEqual(processesIn(cwd), []);
  });
});

describe('starts', { concurrency: true }, () => {
  test('F12, F14: fifty callers of a slow server share one start', async (t) => {
    const cwd = await temporaryFolder(t);
    const { server } = openServer(t, faultyConfig(['--start-delay=300'], { cwd }));
    const early = Array.from({ length: 25 }, () => server.catalogueLink());
    await delay(100);
    assert.equal(server.status().starting, 1);
    const late = Array.from({ length: 25 }, () => server.catalogueLink());
    assert.equal(new Set(await Promise.all([...early, ...late])).size, 1);
    assert.equal(server.status().starts, 1);
    assert.equal(processesIn(cwd).length, 1);
  });

  test('F14: a start that takes too long fails with start-timeout, and its child is gone', async (t) => {
    const cwd = await temporaryFolder(t);
    const { server } = openServer(t, faultyConfig(['--silent'], { cwd, startTimeoutMs: 400 }));
    await assert.rejects(server.catalogueLink(), failure('server-unavailable', 'start-timeout'));
    assert.deepEqual(processesIn(cwd), []);
    assert.match(String(server.status().lastError), /^start-timeout/);
  });

  test('F12: a server that greets and then dies is not respawned at full speed', async (t) => {
    const { server } = openServer(t, faultyConfig(['--exit-after-handshake=0']));
    const begunAt = performance.now();
    const refused: GatewayError[] = [];
    while (refused.length === 0) {
      await server.catalogueLink().catch((thrown: unknown) => {
        if (thrown instanceof GatewayError && thrown.details.reason === 'backing-off') refused.push(thrown);
      });
      await until(() => linksOf(server) === 0);
    }
    // Waits of 250 ms, 500 ms and so on lie between them; a refusal comes where one is long, how soon the machine tells.
    // A start in the moment between a child's end and the word of it does not wait, but the next one does: so one wait in
    // two may be lacking, and a third of all of them is there at least.
    const starts = Number(server.status().starts);
    const waitsMs = 250 * (2 ** (starts - 2) - 1);
    assert.ok(performance.now() - begunAt >= waitsMs / 3, `${starts} starts`);
    assert.ok(Number(refused[0]?.details.data?.retryAfterMs) > 0);
  });

  test('F11: a command that is missing, then there, works without anybody clearing anything', async (t) => {
    const folder = await temporaryFolder(t);
    const { args: _args, ...changes } = await changingServer(folder, 'both');
    const { server } = openServer(t, faultyConfig([], { ...changes, args: ['missing.mjs'] }));
    for (let attempt = 0; attempt < 3; attempt += 1) await assert.rejects(server.catalogueLink());
    await writeFile(join(folder, 'missing.mjs'), 'await import("./server.mjs")');
    const link = await server.catalogueLink();
    assert.equal(await callTool(link, 'echo', { text: 'mended' }), 'mended');
    assert.equal(server.status().lastError, null);
  });

  test('F08: what cannot be executed fails within milliseconds, and says why in the log alone', async (t) => {
    const { server, logs } = openServer(t, faultyConfig([], { command: '/nowhere/at-all' }));
    const startedAt = performance.now();
    await assert.rejects(server.catalogueLink(), (thrown: unknown) => {
      assert.ok(thrown instanceof GatewayError);
      assert.equal(thrown.details.reason, 'command-missing');
      assert.ok(!thrown.message.includes('nowhere'));
      return true;
    });
    assert.ok(performance.now() - startedAt < 1_000);
    assert.ok(logs.some((line) => line.includes('/nowhere/at-all')));
  });

  test('F44: closing while a child starts ends the start and the child', async (t) => {
    const cwd = await temporaryFolder(t);
    const { server } = openServer(t, faultyConfig(['--start-delay=60000'], { cwd, startTimeoutMs: 60_000 }));
    const starting = server.catalogueLink();
    starting.catch(() => {});
    await until(() => processesIn(cwd).length > 0);
    const startedAt = performance.now();
    await server.close();
    await assert.rejects(starting, failure('draining'));
    assert.ok(performance.now() - startedAt < 8_000, 'the ladder, not the start timeout');
    assert.deepEqual(processesIn(cwd), []);
    assert.equal(server.status().failures, 0, 'an end that we wanted is no failure');
  });
});

describe('ends', { concurrency: true }, () => {
  test('links that Portico closes are no failures of the server', async (t) => {
    const { server, logs } = openServer(t, faultyConfig());
    for (const key of ['a', 'b', 'c', 'd']) {
      await server.ownLink({ key, owner: 'a', pinned: true, clientCapabilities: {} });
      await server.releaseOwnLink(key);
    }
    assert.equal(server.status().failures, 0);
    assert.equal(server.status().lastError, null);
    assert.ok(!logs.some((line) => line.includes('link ended')));
  });

  test("F12: one principal's crashes delay neither another's start nor the lists", async (t) => {
    const { server } = openServer(t, faultyConfig());
    const open = (owner: string, key: string) =>
      server.ownLink({ key, owner, pinned: false, clientCapabilities: {} });
    for (let round = 0; round < 5; round += 1) {
      const link = await open('ada', `ada ${round}`).catch(() => undefined);
      if (link === undefined) break;
      await assert.rejects(callTool(link, 'crash'), failure('server-unavailable', 'process-ended'));
    }
    await assert.rejects(open('ada', 'once more'), failure('server-unavailable', 'backing-off'));
    assert.equal(await callTool(await open('bob', 'bob'), 'echo', { text: 'mine' }), 'mine');
    assert.equal(await callTool(await server.catalogueLink(), 'echo', { text: 'lists' }), 'lists');
  });

  test('F09: a child that is killed fails its calls at once, each once, and the next call gets a new child', async (t) => {
    const cwd = await temporaryFolder(t);
    const { server } = openServer(t, faultyConfig([], { cwd }));
    const link = await server.catalogueLink();
    const calls = [1, 2, 3].map(() => callTool(link, 'never'));
    const settled = Promise.allSettled(calls);
    await callTool(link, 'crash').catch(() => {});
    for (const outcome of await settled) {
      assert.ok(outcome.status === 'rejected');
      failure('server-unavailable', 'process-ended')(outcome.reason);
    }
    assert.equal(server.status().inFlight, 0);
    const next = await server.catalogueLink();
    assert.notEqual(next, link);
    const received = JSON.parse(await callTool(next, 'received')) as { method: string }[];
    assert.equal(received[0]?.method, 'server/discover', 'F15: the handshake comes first again');
    assert.equal(processesIn(cwd).length, 1);
  });

  test('F07: a child that ended and left its group behind is cleaned up before the server is closed', async (t) => {
    const cwd = await temporaryFolder(t);
    const script = `import { spawn } from 'node:child_process';
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      await import(${JSON.stringify(pathToFileURL(FAULTY_SERVER).href)});`;
    await writeFile(join(cwd, 'wrapper.mjs'), script);
    const { server } = openServer(t, faultyConfig([], { cwd, args: ['wrapper.mjs'] }));
    const link = await server.catalogueLink();
    await assert.rejects(callTool(link, 'exit'));
    assert.equal(processesIn(cwd).length, 1, 'the grandchild lives');
    await server.close();
    assert.deepEqual(processesIn(cwd), []);
  });

  test('F12: children that take their time to die count against maxLinks until they are gone', async (t) => {
    const cwd = await temporaryFolder(t);
    const stubborn = faultyConfig(['--ignore-sigterm', '--ignore-eof'], { cwd, maxLinks: 2 });
    const timings = { inputGraceMs: 100, sigtermGraceMs: 100 };
    const { server } = openServer(t, stubborn, { timings });
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, processesIn(cwd).length);
    }, 5);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const link = await server.ownLink({ key, owner: key, pinned: true, clientCapabilities: {} });
      assert.equal(await callTool(link, 'echo', { text: key }), key);
      void server.releaseOwnLink(key);
    }
    clearInterval(watch);
    assert.equal(most, 2);
  });

  test('F10: a child that asks on and on and reads no answer is ended, and its calls fail', async (t) => {
    const { server } = openServer(t, faultyConfig());
    const link = await server.catalogueLink();
    await assert.rejects(callTool(link, 'ping-flood'), failure('server-unavailable', 'unread-answers'));
    assert.equal(link.open, false);
    assert.equal(await callTool(await server.catalogueLink(), 'echo', { text: 'anew' }), 'anew');
  });
});
