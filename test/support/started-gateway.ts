// What a test gets of what it has started in its own process, be it one gateway or replicas behind a balancer.
import type { ReloadStatus } from '../../src/lifecycle/reloads.ts';
import type { LogLine } from './gateway-logs.ts';
import type { RunningGateways } from './running-gateways.ts';

export interface StartedGateway extends AsyncDisposable, Pick<RunningGateways, 'children' | 'reload'> {
  /** The endpoint of all servers, `http://127.0.0.1:port/mcp`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly logs: readonly LogLine[];
  /** The log line that satisfies `isIt`, be it there already or still to come. */
  logged(isIt: (line: LogLine) => boolean): Promise<LogLine>;
  status(): Promise<StatusReport>;
  hurry(): void;
  /** Idempotent. Rejects where something is left. */
  close(): Promise<void>;
}

export interface StatusReport {
  readonly sessions: number;
  readonly config: ReloadStatus;
  readonly store: { readonly kind: string; readonly available: boolean };
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Front {
  /** Without `/mcp`. */
  readonly url: string;
  readonly adminUrl: string;
  /** Idempotent. */
  close(): Promise<void>;
}

export function startedGateway(running: RunningGateways, { url, adminUrl, close }: Front): StartedGateway {
  return {
    url: `${url}/mcp`,
    adminUrl,
    logs: running.logs.lines,
    logged: (isIt) => running.logs.first(isIt),
    children: running.children,
    status: async () => (await (await fetch(`${adminUrl}/status`)).json()) as StatusReport,
    reload: running.reload,
    hurry() {
      for (const gateway of running.members) gateway.hurry();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
