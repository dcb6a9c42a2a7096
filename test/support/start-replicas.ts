// Several gateways in the test's own process behind a balancer, with one Redis, as one service runs in the field. To a
// test they are what one gateway is; it may also reach each by itself, and end it.
import type { GatewayConfig } from '../../src/config/config.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startMergedAdmin } from './merged-admin.ts';
import { REPLICA_SECRET, redisOfTheRun } from './replicas-wanted.ts';
import { type RoundRobinProxy, startRoundRobinProxy } from './round-robin-proxy.ts';
import { type RunningGateway, runGateways, type Seat, type StartOptions } from './running-gateways.ts';
import { type StartedGateway, startedGateway } from './started-gateway.ts';

export interface ReplicasOptions extends StartOptions {
  readonly count: number;
  /** By default the one of PORTICO_TEST_REDIS_URL, with keys of these replicas alone. */
  readonly redis?: GatewayConfig['redis'];
  /** What differs in the config of one of them; `index` is its place among them. */
  seat?(config: GatewayConfig, index: number): GatewayConfig;
}

export interface StartedReplicas extends StartedGateway {
  readonly balancer: RoundRobinProxy;
  readonly replicas: readonly RunningGateway[];
}

export async function startReplicas({
  count,
  redis = { ...redisOfTheRun(), timeoutMs: 10_000 },
  seat = (config) => config,
  ...options
}: ReplicasOptions): Promise<StartedReplicas> {
  const seats = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Seat> => {
      const replica = await replicaSeat(redis);
      return (config) => seat(replica(config), index);
    }),
  );
  const secrets = [...(options.secrets ?? []), REPLICA_SECRET];
  const running = await runGateways({ ...options, secrets }, seats);
  const ports = running.members.map(({ url }) => Number(new URL(url).port));
  const balancer = await startRoundRobinProxy({ ports, port: options.gateway?.listen?.port ?? 0 });
  const admin = await startMergedAdmin(running.members.map(({ adminUrl }) => adminUrl));

  await eventually('each replica knows all others', () => knowEachOther(running.members)).catch(
    async (thrown: unknown) => {
      await end();
      throw thrown;
    },
  );

  async function end(): Promise<void> {
    try {
      await running.close();
    } finally {
      await balancer.close();
      await admin.close();
    }
  }
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };
  const url = new URL(running.members[0]?.url ?? '');
  url.port = String(balancer.port);
  const base = url.href.replace(/\/$/, '');
  return {
    ...startedGateway(running, { url: base, adminUrl: admin.url, close }),
    balancer,
    replicas: running.members,
  };
}

/** Before that, what lives on one may be taken for what nobody has; true at once where Redis does not answer at all. */
async function knowEachOther(members: readonly RunningGateway[]): Promise<boolean> {
  const known = members
    .filter(({ adminUrl }) => adminUrl !== '')
    .map(async ({ adminUrl }) => {
      const scrape = await (await fetch(`${adminUrl}/metrics`)).text();
      const number = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(scrape)?.[1]);
      return number('portico_store_available') === 0 || number('portico_replicas_live') === members.length;
    });
  return (await Promise.all(known)).every(Boolean);
}

/** Another replica of the same service. */
export async function replicaSeat(redis: GatewayConfig['redis']): Promise<Seat> {
  // The others are told its port before it listens.
  const listen = { host: '127.0.0.1', port: await freePort() };
  const replica = { listen, url: `http://127.0.0.1:${listen.port}`, secret: REPLICA_SECRET };
  return (config) => ({
    ...config,
    listen: { ...config.listen, port: 0 },
    admin: config.admin && { ...config.admin, port: 0 },
    redis: config.redis ?? redis,
    replica,
  });
}
