// One of three replicas is killed under load: clients of each kind call on and on through the balancer, each notes what
// became of every call, and the servers behind note how often they ran it.
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { startOneGateway } from '../support/gateway-process.ts';
import { descendantsOf, stillAlive } from '../support/process-tree.ts';
import { type ReplicaProcesses, startReplicaProcesses } from '../support/replica-processes.ts';
import { type CallingKind, LoadClient, type NotedCall } from './load-client.ts';

const STDIO_SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));
const REPLICAS = 3;
const KILLED = 1;
const KINDS: readonly CallingKind[] = ['modern', 'web session', 'own child'];
/** The view that a kind of client calls. */
const VIEWS: Readonly<Record<CallingKind, string>> = {
  modern: 'modern',
  'web session': 'web',
  'own child': 'own',
};

export interface KillPlan {
  readonly redisUrl: string;
  /** Of each kind. */
  readonly clients: number;
  /** Before the kill, and again after it. */
  readonly seconds: number;
}

export interface KillReport {
  readonly kinds: readonly KindReport[];
  /** Texts of calls that a server has run more than once. */
  readonly ranTwice: readonly string[];
  /** Children of the replica that was killed. */
  readonly orphans: number;
  readonly orphansLeft: number;
}

export interface KindReport {
  readonly kind: CallingKind;
  readonly clients: number;
  readonly calls: readonly NotedCall[];
  /** Calls that were under way when the replica was killed. */
  readonly underWay: number;
  /** How long after the kill each client had its next good answer. */
  readonly backAfterMs: readonly number[];
  /** How often clients whose session was the killed replica's, and all others, had to initialize again. */
  readonly initializedAgain: { readonly owned: number; readonly others: number };
  /** Clients whose session was the killed replica's. */
  readonly owned: number;
}

export async function killOneUnderLoad({ redisUrl, clients, seconds }: KillPlan): Promise<KillReport> {
  await using modern = new CountedServer(await startFaultyHttpServer({ era: 'modern' }));
  await using web = new CountedServer(await startFaultyHttpServer({ era: 'legacy' }));
  const own = { command: process.execPath, args: [STDIO_SERVER, '--era=legacy'], maxLinks: 4 * clients };
  await using service = await startReplicaProcesses({
    count: REPLICAS,
    redis: { url: redisUrl, keyPrefix: `portico-kill ${process.pid}:`, timeout: '5s' },
    start: startOneGateway,
    config: {
      mcpServers: { modern: { url: modern.server.url }, web: { url: web.server.url }, own },
      gateway: { log: { level: 'warn' } },
    },
  });
  const crowd = await Promise.all(
    KINDS.flatMap((kind) => Array.from({ length: clients }, (_, n) => enter(service, kind, n))),
  );
  const over = new AbortController();
  const calling = Promise.all(crowd.map((client) => client.callOn(over.signal)));
  await delay(seconds * 1_000);
  const orphans = descendantsOf(service.replicas[KILLED]?.pid ?? 0);
  const killedAt = performance.now();
  await service.kill(KILLED);
  const deadAt = performance.now();
  await delay(seconds * 1_000);
  over.abort();
  await calling;
  await eventually('its children are gone', () => stillAlive(orphans).length === 0).catch(() => {});
  await Promise.all(crowd.map((client) => client.close()));
  return {
    kinds: KINDS.map((kind) =>
      reportOf(
        kind,
        crowd.filter((client) => client.kind === kind),
        { killedAt, deadAt },
      ),
    ),
    ranTwice: [...modern.ranTwice(), ...web.ranTwice()],
    orphans: orphans.length,
    orphansLeft: stillAlive(orphans).length,
  };
}

/** The nth client of its kind. Its session begins at the nth replica, in turn, which is then its owner. */
async function enter(service: ReplicaProcesses, kind: CallingKind, n: number): Promise<LoadClient> {
  const view = VIEWS[kind];
  const home = n % REPLICAS;
  const client = new LoadClient({
    kind,
    name: `${view}-${n}`,
    url: `${service.url}/${view}`,
    isOwned: kind !== 'modern' && home === KILLED,
  });
  await client.enter(`${service.replicas[home]?.url}/${view}`);
  return client;
}

function reportOf(
  kind: CallingKind,
  clients: readonly LoadClient[],
  { killedAt, deadAt }: { readonly killedAt: number; readonly deadAt: number },
): KindReport {
  const calls = clients
    .flatMap((client) => client.calls)
    .map((call) => ({ ...call, underWay: call.beganAt <= deadAt && call.endedAt >= killedAt }));
  const again = (isOwned: boolean) =>
    clients
      .filter((client) => client.isOwned === isOwned)
      .reduce((sum, client) => sum + client.initializedAgain, 0);
  return {
    kind,
    clients: clients.length,
    calls,
    underWay: calls.filter(({ underWay }) => underWay).length,
    backAfterMs: clients.map(
      (client) =>
        (client.calls.find((call) => call.beganAt > deadAt && call.fate === 'answered')?.endedAt ??
          Number.POSITIVE_INFINITY) - killedAt,
    ),
    initializedAgain: { owned: again(true), others: again(false) },
    owned: clients.filter((client) => client.isOwned).length,
  };
}

/** Counts how often each call is run, by its text. */
class CountedServer implements AsyncDisposable {
  readonly server: FaultyHttpServer;
  readonly #runs = new Map<string, number>();

  constructor(server: FaultyHttpServer) {
    this.server = server;
    server.fault(({ message }) => {
      const { arguments: said } = (message?.params ?? {}) as { arguments?: { text?: string } };
      if (message?.method === 'tools/call' && said?.text !== undefined)
        this.#runs.set(said.text, (this.#runs.get(said.text) ?? 0) + 1);
      // It remembers every request, and this is a long run.
      server.received.length = 0;
      return false;
    }, {});
  }

  ranTwice(): string[] {
    return [...this.#runs].filter(([, runs]) => runs > 1).map(([text]) => text);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}
