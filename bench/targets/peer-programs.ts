// Other gateways from npm, before the same stdio server: installed when they are first measured, since nothing of
// Portico needs them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-port.ts';
import { openSession } from '../load/client-requests.ts';
import { placed } from '../machine.ts';
import { startProgram } from '../program.ts';
import type { Stage } from '../stage.ts';
import { stdioServerCommand } from './raw.ts';
import type { Target } from './target.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/bench-peers', import.meta.url));
const PACKAGES = ['supergateway@4.0.0', 'mcp-proxy@6.7.19'];
const READY_MS = 20_000;

/** How each is told to keep sessions, and to serve one stdio server at `/mcp`. */
const PROGRAMS: Readonly<Record<string, (port: number, server: readonly string[]) => string[]>> = {
  supergateway: (port, server) => [
    'supergateway/dist/index.js',
    '--stdio',
    server.join(' '),
    '--outputTransport',
    'streamableHttp',
    '--stateful',
    '--port',
    `${port}`,
    '--logLevel',
    'none',
  ],
  'mcp-proxy': (port, server) => [
    'mcp-proxy/dist/bin/mcp-proxy.mjs',
    '--host',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--server',
    'stream',
    '--',
    ...server,
  ],
};

export async function startPeerPrograms(stage: Stage): Promise<[string, Target][]> {
  const started: [string, Target][] = stage.peers.map(({ name, url }) => [
    name,
    {
      port: Number(url.port),
      path: url.pathname,
      tokens: [undefined],
      pids: () => [],
      stop: async () => {},
    },
  ]);
  if (!(await installPeers(stage))) return started;
  for (const name of Object.keys(PROGRAMS)) {
    try {
      started.push([name, await stage.own(startPeer(name))]);
    } catch (thrown) {
      stage.gaps.add(`${name} did not start: ${thrown instanceof Error ? thrown.message : thrown}`);
    }
  }
  return started;
}

async function installPeers({ gaps }: Stage): Promise<boolean> {
  if (existsSync(join(CACHE, 'node_modules', 'mcp-proxy'))) return true;
  await mkdir(CACHE, { recursive: true });
  const { status } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefix', CACHE, ...PACKAGES],
    {
      stdio: 'ignore',
    },
  );
  if (status !== 0) gaps.add(`${PACKAGES.join(' and ')} could not be installed: no rows of theirs`);
  return status === 0;
}

async function startPeer(name: string): Promise<Target> {
  const port = await freePort();
  const [script = '', ...args] =
    PROGRAMS[name]?.(port, placed('others', stdioServerCommand('legacy')).flat()) ?? [];
  const command = [process.execPath, join(CACHE, 'node_modules', script), ...args];
  const program = await startProgram({ place: 'target', command });
  const until = performance.now() + READY_MS;
  for (;;) {
    const failure = await openSession({ port, path: '/mcp' }, undefined).then(() => undefined, String);
    if (failure === undefined) break;
    if (performance.now() > until) throw new Error(failure);
    await delay(100);
  }
  return { port, path: '/mcp', tokens: [undefined], pids: () => [program.pid], stop: program.stop };
}
