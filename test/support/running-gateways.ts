// One gateway or several in the test's own process, made of plain config objects, in one folder and with one log.
// Their end is held to what must always be true: no child, no socket and no timer is left, and no secret was told.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayConfig } from '../../src/config/config.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/gateway.ts';
import type { ReloadOutcome } from '../../src/lifecycle/reloads.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { gatewayConfig } from './gateway-config.ts';
import { assertCleanEnd } from './gateway-end.ts';
import { GatewayLogs } from './gateway-logs.ts';
import { watchHandles } from './live-handles.ts';
import { processesIn } from './process-tree.ts';
import { type RigServers, serversOf } from './rig-servers.ts';

export interface StartOptions extends RigServers {
  readonly gateway?: Partial<GatewayConfig>;
  readonly overrides?: Omit<GatewayOptions, 'config' | 'version' | 'logger'>;
  readonly secrets?: readonly string[];
}

/** What of a gateway's config differs from that of the others. */
export type Seat = (config: GatewayConfig) => GatewayConfig;

export interface RunningGateway {
  /** The public listener's, without `/mcp`. */
  readonly url: string;
  readonly adminUrl: string;
  hurry(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface RunningGateways {
  /** In the order of their seats. */
  readonly members: readonly RunningGateway[];
  readonly logs: GatewayLogs;
  /** The pids of all children, grandchildren included, that are alive. */
  children(): number[];
  /** Reloads them all with these in place of what they were started, or last reloaded, with. */
  reload(changes: RigServers & Pick<StartOptions, 'gateway'>): Promise<ReloadOutcome>;
  /** Idempotent. Rejects where something is left. */
  close(): Promise<void>;
}

export async function runGateways(
  { gateway = {}, secrets = [], ...options }: StartOptions,
  seats: readonly Seat[],
): Promise<RunningGateways> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  const handles = watchHandles();
  const logs = new GatewayLogs();
  let wanted: StartOptions = { ...options, gateway };
  const configNow = (seat: Seat) => ({
    servers: serversOf(wanted, folder),
    gateway: seat(gatewayConfig(wanted.gateway ?? {})),
    secrets,
  });

  async function run(seat: Seat) {
    const budget = new BufferBudget(configNow(seat).gateway.maxBufferedBytes);
    const running = await createGateway({
      config: configNow(seat),
      budget,
      version: '0.0.0-test',
      logger: createLogger({ level: 'debug', secrets, destination: logs }),
      ...options.overrides,
    });
    return { seat, budget, running };
  }
  const started = await Promise.all(seats.map(run));
  const closeAll = () => Promise.all(started.map(({ running }) => running.close()));
  const addresses = await Promise.all(started.map(({ running }) => running.start())).catch(
    async (thrown: unknown) => {
      handles.stop();
      await closeAll();
      throw thrown;
    },
  );

  async function end(): Promise<void> {
    await closeAll();
    try {
      const budgets = started.map(({ budget }) => budget);
      await assertCleanEnd({ folder, handles, logs, secrets, budgets });
    } finally {
      handles.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  let ending: Promise<void> | undefined;

  return {
    members: started.map(({ running }, index) => member(running, addresses[index])),
    logs,
    children: () => processesIn(folder),
    async reload(changes) {
      wanted = { ...wanted, ...changes, gateway: { ...wanted.gateway, ...changes.gateway } };
      const outcomes = await Promise.all(
        started.map(({ running, seat }) =>
          running.reload(async () => ({ ok: true, config: configNow(seat), warnings: [], files: [] })),
        ),
      );
      // They are asked the same, so one that differs is the one to tell of.
      return outcomes.find((outcome) => outcome !== outcomes[0]) ?? outcomes[0] ?? 'ignored';
    },
    close() {
      ending ??= end();
      return ending;
    },
  };
}

function member(
  running: Gateway,
  addresses: Awaited<ReturnType<Gateway['start']>> | undefined,
): RunningGateway {
  return {
    url: addresses?.public[0] ?? '',
    adminUrl: addresses?.admin[0] ?? '',
    hurry: () => running.hurry(),
    close: () => running.close(),
  };
}
