// The gateway of a soak, as a process of its own, between servers of both eras over both wires.
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { FAULTY_SERVER } from '../support/stdio-rig.ts';
import { apiKeysOf, makePeople, type Person } from './people.ts';
import type { SoakView } from './visits.ts';

export interface SoakRig extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly httpServers: readonly FaultyHttpServer[];
  readonly views: readonly SoakView[];
  readonly people: readonly Person[];
  /** Children that may run at a time, by the config. */
  readonly maxProcesses: number;
}

const MAX_LINKS = { 'stdio-modern': 2, 'stdio-legacy': 8, 'stdio-personal': 8 } as const;
/** Fewer than the servers may have together, so that each makes room for the others. */
const PROCESSES = { max: 14, maxPerPrincipal: 3 } as const;
const PEOPLE = 200;
/** Short, so that what is abandoned is seen to go; on a busy machine a client may be that slow between two calls. */
const SESSION_IDLE = '15s';

export async function startSoakRig(): Promise<SoakRig> {
  const modern = await startFaultyHttpServer({ era: 'modern' });
  const legacy = await startFaultyHttpServer({ era: 'legacy' });
  const people = makePeople(PEOPLE);
  const stdio = (slug: keyof typeof MAX_LINKS, era: string, more: object = {}) => ({
    ...more,
    command: process.execPath,
    args: [FAULTY_SERVER, `--era=${era}`],
    maxLinks: MAX_LINKS[slug],
    idleTimeout: '2s',
    queue: { max: 1024, timeout: '20s' },
  });
  const gateway = await startGateway({
    config: {
      mcpServers: {
        'stdio-modern': stdio('stdio-modern', 'modern'),
        'stdio-legacy': stdio('stdio-legacy', 'legacy'),
        'stdio-personal': stdio('stdio-personal', 'modern', { isolation: 'principal', warm: 2 }),
        'http-modern': { url: modern.url, idleTimeout: '2s' },
        'http-legacy': { url: legacy.url, idleTimeout: '2s' },
      },
      gateway: {
        listen: { host: '127.0.0.1', port: 0 },
        admin: { host: '127.0.0.1', port: 0 },
        auth: { apiKeys: apiKeysOf(people) },
        access: { rules: [{ name: 'everyone', allow: ['*'] }] },
        processes: PROCESSES,
        sessions: { idleTimeout: SESSION_IDLE },
        log: { level: 'error' },
      },
    },
  });
  const view = (slug: string, more: Partial<SoakView> = {}): SoakView => ({
    url: `${gateway.url}/${slug}`,
    calls: ['echo', 'echo', 'big', 'cancel'],
    resumes: false,
    asks: false,
    ...more,
  });
  return {
    gateway,
    httpServers: [modern, legacy],
    views: [
      view('stdio-modern', { calls: ['echo', 'big', 'progress', 'cancel'], resumes: true }),
      view('stdio-legacy', {
        calls: ['echo', 'big', 'progress', 'whose', 'cancel'],
        resumes: true,
        asks: true,
      }),
      view('stdio-personal', { calls: ['echo', 'whose', 'cancel'] }),
      view('http-modern'),
      view('http-legacy'),
    ],
    people,
    maxProcesses: PROCESSES.max,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await Promise.all([modern.close(), legacy.close()]);
    },
  };
}
