// `npm run bench:streams`: what idle event streams weigh and cost. Clients of 2026-07-28 each keep a subscription open, or
// with `legacy` those of 2025-11-25 a session and its GET stream; memory is read from the process's own metrics and from
// /proc, garbage collected, and is that of the streams that come after the first thousand. Arguments: how many, and `legacy`.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuUsOf, rssMbOf } from './machine.ts';
import { Stage } from './stage.ts';

const STREAMS = Number(process.argv[2] ?? 5_000);
const IS_LEGACY = process.argv[3] === 'legacy';
const WATCHED_MS = 45_000;
const AT_A_TIME = 100;
/** So that garbage is not counted, of which there is any amount. */
const COLLECT = "process.on('SIGUSR2',()=>gc())";

await using stage = await Stage.open({ quick: true, peers: [], forMs: 1_000 });
const server = await stage.server('legacy');
const target = await stage.portico({
  servers: { raw: { url: `http://127.0.0.1:${server.port}${server.path}` } },
  nodeArguments: ['--max-semi-space-size=16', '--expose-gc', '--import', `data:text/javascript,${COLLECT}`],
});
// What a process grows by once is not what a stream weighs: compiled code, and the space of new objects.
const first = await openMany(1_000);
await delay(WATCHED_MS / 3);
const before = await memory();
const sockets = await openMany(STREAMS);
await delay(WATCHED_MS / 3);
// Pauses are told since the last look: neither opening nor collecting is what is watched.
const after = await memory();
await takeLongestPauseMs();
const cpuBefore = cpuUsOf(target.pids());
const watchedFrom = performance.now();
await delay(WATCHED_MS);
const busy = (cpuUsOf(target.pids()) - cpuBefore) / 1_000 / (performance.now() - watchedFrom);
const longestPauseMs = await takeLongestPauseMs();
process.stdout.write(`${STREAMS} idle event streams
heap  ${(((after.heapMb - before.heapMb) * 1_024) / STREAMS).toFixed(1)} kB each
RSS   ${(((after.rssMb - before.rssMb) * 1_024) / STREAMS).toFixed(1)} kB each
CPU   ${(busy * 100).toFixed(2)} % of a core for keep-alives and whatever else an idle process does
pause ${longestPauseMs.toFixed(1)} ms, the longest of the event loop since the last look
`);
for (const socket of [...first, ...sockets]) socket.destroy();

async function openMany(count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const first = sockets.length;
    sockets.push(
      ...(await Promise.all(Array.from({ length: AT_A_TIME }, (_, place) => open(first + place)))),
    );
  }
  return sockets;
}

/** Opens a stream and resolves once it has begun. */
async function open(index: number): Promise<Socket> {
  const authorization = `Authorization: Bearer ${target.tokens[index % target.tokens.length]}`;
  return IS_LEGACY ? openLegacy(authorization) : openModern(authorization, index + 1);
}

async function openModern(authorization: string, id: number): Promise<Socket> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { notifications: { toolsListChanged: true }, _meta };
  const headers = [authorization, 'MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: subscriptions/listen'];
  const { socket } = await post(headers, { id, method: 'subscriptions/listen', params }, /acknowledged/);
  return socket;
}

async function openLegacy(authorization: string): Promise<Socket> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const { socket, text } = await post([authorization], { id: 1, method: 'initialize', params }, /serverInfo/);
  socket.destroy();
  const session = /mcp-session-id: (\S+)/i.exec(text)?.[1] ?? '';
  const head = [
    'GET /mcp HTTP/1.1',
    authorization,
    'Accept: text/event-stream',
    'MCP-Protocol-Version: 2025-11-25',
    `Mcp-Session-Id: ${session}`,
  ];
  return (await exchange(head, '', /\r\n\r\n[\s\S]/)).socket;
}

function post(headers: readonly string[], message: object, until: RegExp) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const head = [
    'POST /mcp HTTP/1.1',
    ...headers,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${body.length}`,
  ];
  return exchange(head, body, until);
}

/** Resolves once what has come matches `until`. */
function exchange(
  head: readonly string[],
  body: string,
  until: RegExp,
): Promise<{ socket: Socket; text: string }> {
  const socket = connect(target.port, '127.0.0.1');
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; text: string }>();
  let text = '';
  socket.on('error', reject);
  socket.on('data', (chunk) => {
    if (text.length > 4_000) return;
    text += chunk.toString('latin1');
    if (!text.startsWith('HTTP/1.1 200')) reject(new Error(text));
    else if (until.test(text)) resolve({ socket, text });
  });
  socket.write(`${[...head, `Host: 127.0.0.1:${target.port}`].join('\r\n')}\r\n\r\n${body}`);
  return promise;
}

async function memory(): Promise<{ heapMb: number; rssMb: number }> {
  for (const pid of target.pids()) process.kill(pid, 'SIGUSR2');
  await delay(1_000);
  return {
    heapMb: (await metric('nodejs_heap_size_used_bytes')) / 1_024 / 1_024,
    rssMb: rssMbOf(target.pids()),
  };
}

/** Of the event loop; the longest since this was asked for last. */
async function takeLongestPauseMs(): Promise<number> {
  return (await metric('nodejs_eventloop_lag_max_seconds')) * 1_000;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${target.adminPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}
