// Portico as a process whose standard error is a pipe that nobody reads.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { ModernClient } from '../support/raw-session.ts';
import { FAULTY_SERVER } from '../support/stdio-rig.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Of a pipe, on Linux; what there is more of the log waits in Portico. */
const PIPE_BYTES = 64 * 1024;

/** A gateway whose log goes into a pipe that is nearly full. */
async function startUnread(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  const [port, adminPort] = [await freePort(), await freePort()];
  const config = {
    mcpServers: {
      loud: {
        command: process.execPath,
        args: [FAULTY_SERVER, '--stderr-before-reply=20000'],
        isolation: 'shared',
      },
    },
    gateway: {
      listen: { host: '127.0.0.1', port },
      admin: { host: '127.0.0.1', port: adminPort },
      log: { level: 'debug' },
    },
  };
  const [file, log] = [join(folder, 'portico.json'), join(folder, 'log')];
  await writeFile(file, JSON.stringify(config));
  execFileSync('mkfifo', [log]);
  const pipe = await open(log, 'r+');
  await pipe.write(Buffer.alloc(PIPE_BYTES - 4_096, '\n'));
  const gateway = spawn(process.execPath, [MAIN, '--config', file], { stdio: ['ignore', 'ignore', pipe.fd] });
  const exited = once(gateway, 'exit');
  t.after(async () => {
    gateway.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true });
  });
  const isUp = async () =>
    (await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined))?.ok === true;
  await eventually('it is ready', isUp, 20_000);
  return { gateway, exited, pipe, log, url: `http://127.0.0.1:${port}/mcp` };
}

/** Enough calls to a child that floods its standard error that the log outgrows its pipe. */
async function callLoudly(url: string): Promise<void> {
  await using client = new ModernClient(url);
  for (let call = 0; call < 60; call += 1) {
    assert.equal(await client.tool('echo', { text: `${call}` }), `${call}`);
  }
}

test('F13: calls are answered while a child floods its standard error and nobody reads the log', async (t) => {
  const { gateway, exited, pipe, log, url } = await startUnread(t);
  await callLoudly(url);

  gateway.kill('SIGTERM');
  const reader = spawn('cat', [log], { stdio: ['ignore', 'pipe', 'inherit'] });
  const readToEnd = once(reader, 'close');
  let read = 0;
  reader.stdout.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  await once(reader.stdout, 'data');
  await pipe.close();
  assert.deepEqual(await exited, [0, null]);
  await readToEnd;
  assert.ok(read > PIPE_BYTES, `${read} bytes: more than the pipe holds had waited`);
});

test('F13 F44: it ends when told to though nobody ever reads the log', async (t) => {
  const { gateway, exited, pipe, url } = await startUnread(t);
  t.after(() => pipe.close());
  await callLoudly(url);
  gateway.kill('SIGTERM');
  assert.deepEqual(await exited, [null, 'SIGKILL']);
});
