// Several gateways as processes behind a balancer, with one Redis, as one service runs in the field. To a test they
// are what one process is; it may also reach each by itself, and end it.
import { parse } from 'yaml';
import { freePort } from './free-port.ts';
import type { GatewayConfigFile, GatewayOptions, GatewayProcess } from './gateway-process.ts';
import { startMergedAdmin } from './merged-admin.ts';
import { REPLICA_SECRET, redisOfTheRun } from './replicas-wanted.ts';
import { type RoundRobinProxy, startRoundRobinProxy } from './round-robin-proxy.ts';

export interface ReplicaProcessesOptions extends GatewayOptions {
  readonly count: number;
  /** Of the config; by default the Redis of the whole run. */
  readonly redis?: Readonly<Record<string, unknown>>;
  /** Starts one of them. */
  start(options: GatewayOptions): Promise<GatewayProcess>;
}

export interface ReplicaProcesses extends GatewayProcess {
  readonly balancer: RoundRobinProxy;
  /** Ends one at once, as a crash would; the balancer finds out by itself. Resolves when it is gone. */
  kill(index: number): Promise<void>;
  readonly replicas: readonly GatewayProcess[];
}

type Section = Readonly<Record<string, unknown>>;

export async function startReplicaProcesses({
  count,
  redis = { ...redisOfTheRun(), timeout: '10s' },
  start,
  ...options
}: ReplicaProcessesOptions): Promise<ReplicaProcesses> {
  const { config } = options;
  const file = (typeof config === 'string' ? parse(config) : config) as GatewayConfigFile;
  const { listen = {}, admin, ...gateway } = (file.gateway ?? {}) as { listen?: Section; admin?: Section };
  const secrets = [...(options.secrets ?? []), REPLICA_SECRET];
  const replicas = await Promise.all(
    Array.from({ length: count }, async () => {
      const port = await freePort();
      const listenForReplicas = { host: '127.0.0.1', port };
      const replica = {
        ...{ listen: listenForReplicas, url: `http://127.0.0.1:${port}`, secret: REPLICA_SECRET },
      };
      return start({
        ...options,
        secrets,
        config: {
          ...file,
          gateway: {
            redis,
            ...gateway,
            listen: { host: '127.0.0.1', ...listen, port: 0 },
            admin: { host: '127.0.0.1', ...admin, port: 0 },
            replica,
          },
        },
      });
    }),
  );
  const [first] = replicas;
  if (first === undefined) throw new Error('there has to be one replica at least');
  const balancer = await startRoundRobinProxy({
    ports: replicas.map(({ url }) => Number(new URL(url).port)),
    port: Number(listen.port ?? 0),
  });
  const merged = await startMergedAdmin(replicas.map(({ adminUrl }) => adminUrl));
  const url = new URL(first.url);
  url.port = String(balancer.port);

  const killed = new Set<GatewayProcess>();

  async function end(): Promise<number> {
    try {
      const alive = replicas.filter((replica) => !killed.has(replica));
      const codes = await Promise.all(alive.map((replica) => replica.stop()));
      return Math.max(...codes);
    } finally {
      await balancer.close();
      await merged.close();
    }
  }
  let stopping: Promise<number> | undefined;
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  return {
    url: url.href,
    adminUrl: merged.url,
    pid: first.pid,
    file: first.file,
    read: async (name) => (await Promise.all(replicas.map((replica) => replica.read(name)))).join(''),
    signal(signal) {
      for (const replica of replicas) replica.signal(signal);
    },
    stop,
    log: () => replicas.map((replica) => replica.log()).join('\n'),
    balancer,
    async kill(index) {
      const replica = replicas[index];
      if (replica === undefined) throw new Error(`there is no replica ${index}`);
      killed.add(replica);
      replica.signal('SIGKILL');
      // It did not end well, and that is what was wanted.
      await replica.stop().catch(() => {});
    },
    replicas,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
