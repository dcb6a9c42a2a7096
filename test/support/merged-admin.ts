// One admin address for several gateways: numbers are summed, the last exchanges of all are listed, and of all else it
// says what the first one does.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MergedAdmin {
  /** Without a path. */
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export async function startMergedAdmin(urls: readonly string[]): Promise<MergedAdmin> {
  async function answer({ url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = headers;
    const answers = await Promise.all(
      urls.map((each) => ask(each + url, authorization === undefined ? {} : { authorization })),
    );
    // One that is gone, or says no, is what an operator would want to know.
    const told = answers.find(({ status }) => status !== 200) ?? answers[0];
    const bodies = answers.map(({ body }) => body);
    const body = told?.status === 200 ? merged(url, bodies) : (told?.body ?? '');
    response.writeHead(told?.status ?? 502, { 'content-type': told?.type ?? 'text/plain' }).end(body);
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(url, { headers: { ...headers, connection: 'close' } });
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, body: await response.text() };
}

function merged(path: string, bodies: readonly string[]): string {
  if (path === '/metrics') return mergeMetrics(bodies);
  const mergeTwo = JSON_DOCUMENTS.get(path);
  if (mergeTwo === undefined) return bodies[0] ?? '';
  return JSON.stringify(bodies.map((body) => JSON.parse(body)).reduce((one, other) => mergeTwo(one, other)));
}

// biome-ignore lint/suspicious/noExplicitAny: documents are read as their readers would
type Document = any;

const JSON_DOCUMENTS = new Map<string, (one: Document, other: Document) => Document>([
  ['/status', sum],
  ['/status/traffic', (one, other) => ({ ...one, servers: sum(one.servers, other.servers) })],
  [
    '/status/exchanges',
    (one, other) => ({
      ...one,
      all: [...one.all, ...other.all],
      failures: [...one.failures, ...other.failures],
    }),
  ],
]);

/** Of two values of one place. What only one of them has is kept. */
function sum(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (typeof one === 'boolean' && typeof other === 'boolean') return one && other;
  if (!isObject(one) || !isObject(other)) return one ?? other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      name in one && name in other ? sum(one[name], other[name]) : (one[name] ?? other[name]),
    ]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each series once, with the sum of its values. */
function mergeMetrics(scrapes: readonly string[]): string {
  const values = new Map<string, number>();
  const lines: string[] = [];
  const place = new Map<string, number>();
  for (const line of scrapes.flatMap((scrape) => scrape.split('\n'))) {
    const [, series, value] = /^([^#].*) (\S+)$/.exec(line) ?? [];
    const key = series ?? line;
    if (!place.has(key)) place.set(key, lines.push(line) - 1);
    if (series === undefined) continue;
    const total = (values.get(series) ?? 0) + Number(value);
    values.set(series, total);
    lines[place.get(series) ?? 0] = `${series} ${total}`;
  }
  return lines.join('\n');
}
