// From a file to a checked, resolved configuration, or to every problem that it has.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Config, ServerConfig } from './config.ts';
import type { ConfigProblem } from './config-problem.ts';

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly ConfigProblem[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export interface LoadOptions {
  readonly env: NodeJS.ProcessEnv;
  /** What the command line says in place of `gateway.listen`. */
  readonly listen?: { readonly host?: string; readonly port?: number };
}

interface ThinServer {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
}
interface ThinFile {
  mcpServers?: Record<string, ThinServer>;
  gateway?: { listen?: { host?: string; port?: number }; admin?: false | { host?: string; port?: number } };
}

export async function loadConfig(file: string, options: LoadOptions): Promise<LoadedConfig> {
  const text = await readFile(file, 'utf8');
  const parsed = parse(text.replace(/\$\{(\w+)\}/g, (_, name) => options.env[name] ?? '')) as ThinFile;
  const folder = dirname(resolve(file));
  const host = options.listen?.host ?? parsed.gateway?.listen?.host ?? '127.0.0.1';
  const port = options.listen?.port ?? parsed.gateway?.listen?.port ?? 8080;
  const admin = parsed.gateway?.admin;
  const config: Config = {
    servers: Object.entries(parsed.mcpServers ?? {}).map(([name, server]) =>
      thinServer(name, server, folder),
    ),
    gateway: {
      listen: { host, port, tls: undefined },
      admin:
        admin === false
          ? undefined
          : { host: admin?.host ?? '127.0.0.1', port: admin?.port ?? 9090, hosts: [], token: undefined },
      publicUrl: `http://${host}:${port}`,
      insecure: false,
      trustedProxies: [],
      origins: [],
      hosts: [],
      bodyLimitBytes: 4 * 1024 * 1024,
      maxBufferedBytes: 512 * 1024 * 1024,
      sessions: {
        idleTimeoutMs: 1_800_000,
        maxAgeMs: 86_400_000,
        max: 10_000,
        maxPerPrincipal: 100,
        replay: { bytes: 1024 * 1024, forMs: 300_000 },
      },
      parked: { timeoutMs: 300_000, max: 1000, maxPerPrincipal: 20 },
      lists: { timeoutMs: 10_000, staleForMs: 300_000, ttlMs: 30_000 },
      outbound: { proxy: undefined, ca: undefined },
      drain: { delayMs: 0, graceMs: 20_000 },
      log: { level: 'info' },
    },
    secrets: [],
  };
  return { ok: true, config, warnings: [] };
}

function thinServer(name: string, server: ThinServer, folder: string): ServerConfig {
  const common = {
    slug: name,
    name,
    protocol: 'auto',
    isolation: 'auto',
    prefix: name,
    startTimeoutMs: 60_000,
    callTimeoutMs: 120_000,
    maxCallTimeMs: 900_000,
    idleTimeoutMs: 600_000,
    maxLinks: 32,
    maxInFlight: 256,
    queue: { max: 1024, timeoutMs: 30_000 },
    maxMessageBytes: 32 * 1024 * 1024,
  } as const;
  if (server.url !== undefined) {
    const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
    return {
      ...common,
      client,
      type: 'http',
      url: server.url,
      headers: server.headers ?? {},
      tls: undefined,
    };
  }
  return {
    ...common,
    client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' },
    type: 'stdio',
    command: server.command ?? '',
    args: server.args ?? [],
    env: server.env ?? {},
    cwd: resolve(folder, server.cwd ?? '.'),
  };
}
