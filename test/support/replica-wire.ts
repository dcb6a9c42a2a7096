// One replica that takes exchanges over and another that hands them over, on real sockets; the line is the test's own.
import type { TestContext } from 'node:test';
import { createReplicaServer, type ReplicaServerOptions } from '../../src/http/replica-server.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { sealEnvelope } from '../../src/replicas/envelope.ts';
import { ReplicaClient, type ReplicaClientOptions } from '../../src/replicas/replica-client.ts';
import { replicaKeys } from '../../src/replicas/replica-keys.ts';
import type { ForwardedExchange, LiveReplica, ReplyFrame } from '../../src/replicas/replicas.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

export const SECRET = 'a secret of thirty-two characters';
export const HOME = 'home-1';
export const EDGE = 'edge-1';

export interface ReplicaWire {
  readonly url: string;
  readonly home: Pick<LiveReplica, 'id' | 'url'>;
  readonly client: ReplicaClient;
  /** What the home counts, and what the edge does. */
  readonly budgets: { readonly home: BufferBudget; readonly edge: BufferBudget };
  /** Faults of requests that were not taken. */
  readonly refused: string[];
  /** Outcomes of exchanges that are over, by their ids. */
  readonly settled: Map<string, string | undefined>;
  readonly openReplies: () => number;
  /** Ends the home alone. */
  end(): Promise<void>;
}

export interface ReplicaWireOptions {
  readonly handle: (exchange: Exchange) => Promise<void>;
  readonly server?: Partial<ReplicaServerOptions>;
  readonly client?: Partial<ReplicaClientOptions>;
}

export async function openWire(t: TestContext, options: ReplicaWireOptions): Promise<ReplicaWire> {
  const keys = replicaKeys(SECRET);
  const budgets = { home: new BufferBudget(64 * 1024 * 1024), edge: new BufferBudget(64 * 1024 * 1024) };
  const refused: string[] = [];
  const settled = new Map<string, string | undefined>();
  const server = createReplicaServer({
    ...{ keys, self: HOME, budget: budgets.home, handleExchange: options.handle },
    listen: { host: '127.0.0.1', port: 0 },
    logger: createLogger({ level: 'silent', secrets: [] }),
    bodyLimitBytes: () => 1024 * 1024,
    signIn: () => undefined,
    onSettled: ({ id, outcome }) => settled.set(id, outcome),
    onRefused: (fault) => refused.push(fault),
    ...options.server,
  });
  const [url = ''] = await server.listen();
  const client = new ReplicaClient({
    ...{ keys, self: EDGE, budget: budgets.edge, maxFrameBytes: () => 8 * 1024 * 1024 },
    ...options.client,
  });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  return {
    ...{ url, client, budgets, refused, settled, home: { id: HOME, url } },
    end: () => server.close(),
    openReplies: () => server.openReplies,
  };
}

export function sentExchange(changes: Partial<ForwardedExchange> = {}): ForwardedExchange {
  return {
    kind: 'permitted',
    id: 'exchange-1',
    httpMethod: 'POST',
    view: 'everything',
    headers: { accept: 'application/json, text/event-stream', 'mcp-session-id': 's' },
    principal: {
      issuer: 'https://idp.example.com',
      subject: 'ann',
      clientId: 'cli',
      scopes: ['mcp'],
      groups: ['eng'],
      claims: { sub: 'ann', level: 3 },
      tokenId: undefined,
      expiresAtMs: undefined,
    },
    address: '10.1.2.3',
    body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'),
    ...changes,
  };
}

export async function framesOf(answer: AsyncIterable<ReplyFrame>): Promise<ReplyFrame[]> {
  const frames: ReplyFrame[] = [];
  for await (const frame of answer) frames.push(frame);
  return frames;
}

/** A signed message as it goes over the wire. @param headers each with its line end */
export function signedRequest(headers = ''): Buffer {
  const sent = sentExchange();
  const route = { from: EDGE, to: HOME, key: replicaKeys(SECRET).envelope, now: Date.now() };
  const { line, signature } = sealEnvelope(sent, route);
  const length = line.length + 1 + sent.body.length;
  const head = `POST /exchange HTTP/1.1\r\nHost: x\r\nPortico-Signature: ${signature}\r\nContent-Length: ${length}\r\n`;
  return Buffer.concat([Buffer.from(`${head}${headers}\r\n`), line, Buffer.from('\n'), sent.body]);
}
