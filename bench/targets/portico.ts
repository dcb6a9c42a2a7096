// Portico as a process, with everything on: sign-in, rules, limits, metrics, the audit file, the log in a file.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../program.ts';
import type { Target } from './target.ts';
import type { TokenIssuer } from './token-issuer.ts';

export interface PorticoOptions {
  /** As in the config. */
  readonly servers: Readonly<Record<string, object>>;
  /** Limits are counted there. */
  readonly redisUrl?: string;
  /** How much of a limit is taken from Redis at once; each request for itself without it. */
  readonly lease?: number;
  /** The view that is called. */
  readonly path?: string;
  readonly prefix?: string;
  /** Of Node, before the program. */
  readonly nodeArguments?: readonly string[];
  /** Takes features away, to see what each costs. */
  readonly without?: readonly ('auth' | 'limits' | 'audit' | 'log')[];
}

export interface Portico extends Target {
  readonly adminPort: number;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ADDRESSES = /http:\/\/127\.0\.0\.1:(\d+)\/mcp[\s\S]*?admin\D*?http:\/\/127\.0\.0\.1:(\d+)/i;
/** More than any run can use up. */
const UNREACHED = 1_000_000_000;

export async function startPortico(
  folder: string,
  issuer: TokenIssuer,
  options: PorticoOptions,
): Promise<Portico> {
  const { path = '/mcp', prefix = '', nodeArguments = ['--max-semi-space-size=16'], without = [] } = options;
  const home = await mkdtemp(join(folder, 'portico-'));
  const file = join(home, 'portico.yaml');
  await writeFile(file, JSON.stringify(configOf(issuer, options)));
  const program = await startProgram({
    place: 'target',
    command: [process.execPath, ...nodeArguments, MAIN, '--config', file],
    logFile: join(home, 'portico.log'),
    ready: ADDRESSES,
  });
  return {
    port: Number(program.said?.[1]),
    adminPort: Number(program.said?.[2]),
    path,
    prefix,
    tokens: without.includes('auth') ? [undefined] : issuer.tokens,
    pids: () => [program.pid],
    stop: program.stop,
  };
}

function configOf(issuer: TokenIssuer, { servers, redisUrl, lease, without = [] }: PorticoOptions): object {
  const listen = { host: '127.0.0.1', port: 0 };
  const limit = (name: string, key: string, window: string) => ({
    name,
    key,
    window,
    max: UNREACHED,
    ...(lease === undefined ? {} : { lease }),
  });
  const auth = {
    auth: { issuers: [issuer.config], requiredScopes: ['mcp'] },
    access: {
      rules: [
        { name: 'engineers', when: { groups: ['eng'] }, allow: Object.keys(servers) },
        { name: 'nobody', allow: [], deny: Object.keys(servers).map((server) => `${server}/delete_*`) },
      ],
    },
  };
  const redis = redisUrl === undefined ? {} : { redis: { url: redisUrl, timeout: '1s' } };
  const audit = { audit: { file: 'audit.jsonl', key: 'a key of the benchmark', arguments: 'digest' } };
  return {
    mcpServers: servers,
    gateway: {
      listen,
      admin: listen,
      sessions: { max: 100_000, maxPerPrincipal: 10_000 },
      ...(without.includes('auth') ? {} : auth),
      ...(without.includes('limits')
        ? {}
        : { limits: [limit('guard', 'ip', '1h'), limit('fair', 'principal', '1h')], ...redis }),
      ...(without.includes('audit') ? {} : audit),
      ...(without.includes('log') ? { log: { level: 'warn' } } : {}),
    },
  };
}
