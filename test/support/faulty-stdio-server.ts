// An MCP server over stdio that misbehaves on request, in either era; a plain script, so that it can be wrong in every
// way. Faults of the whole process are switches, `--name` or `--name=value`, on the command line or in $FAULTY;
// faults of one call are tools (faulty-stdio-tools.ts), to be mixed within one process.
import { runTool, TOOLS } from './faulty-stdio-tools.ts';
import type { Frame, Meta, RequestId, ToolHost } from './faulty-tool-host.ts';

/** What each switch does; an unknown one ends the process, so that no test passes on a slip of the pen. */
const SWITCHES = {
  era: 'both (default) | legacy | modern',
  discover:
    'how a legacy server takes server/discover: an error code (default -32601) | silent | garbage | exit',
  'exit-at-start': 'exits with this code (default 1) before it reads anything, with words on stderr',
  'start-delay': 'milliseconds before it reads, with a line on stderr every 20 ms',
  silent: 'reads all, answers nothing',
  'log-before-initialize': 'a log notification ahead of the answer to initialize',
  'roots-after-initialized': 'asks roots/list as soon as it is initialized',
  'exit-after': 'exits with code 0 once it has answered this many tools/call',
  'exit-after-handshake': 'exits this many milliseconds after the handshake',
  'ignore-sigterm': 'SIGTERM does nothing',
  'ignore-eof': 'lives on when its input ends',
  pages: 'the number of pages of tools/list',
  framing: 'crlf | bom | blank-lines | noise | half-line | half-glued | banner | banner-glued | byte-by-byte',
  'stderr-before-reply': 'bytes of stderr, without a newline, that have to be read before each answer',
} as const;

const switches = readSwitches([...(process.env.FAULTY ?? '').split(' '), ...process.argv.slice(2)]);
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true },
  completions: {},
  logging: {},
};

const received: Frame[] = [];
const listens = new Map<RequestId, unknown>();
const openCalls = new Map<RequestId, () => void>();
const openQuestions = new Map<RequestId, (answer: Frame) => void>();
let initialized = false;
let framesSent = 0;
let callsAnswered = 0;

if (switches.has('exit-at-start')) {
  process.stderr.write('faulty server: cannot read my settings, token=hunter2-secret\n');
  process.exit(Number(switches.get('exit-at-start') || 1));
}
if (switches.has('ignore-sigterm')) process.on('SIGTERM', () => {});
process.stdin.once('end', () => {
  if (switches.has('ignore-eof')) setInterval(() => {}, 1_000);
  else process.exit(0);
});
process.stdout.on('error', () => {});
if (switches.has('start-delay')) startLate(Number(switches.get('start-delay')));
else readLines();

function startLate(delayMs: number): void {
  const dots = setInterval(() => process.stderr.write('still starting\n'), 20);
  setTimeout(() => {
    clearInterval(dots);
    readLines();
  }, delayMs);
}

function readLines(): void {
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onMessage(JSON.parse(line) as Frame);
  });
}

function onMessage(message: Frame): void {
  received.push(message);
  if (switches.has('silent')) return;
  if (message.method === undefined) openQuestions.get(message.id as RequestId)?.(message);
  else if (message.id === undefined) onNotification(message);
  else onRequest(message.id, message.method, message.params ?? {});
}

function onNotification({ method, params }: Frame): void {
  if (method === 'notifications/initialized') {
    initialized = true;
    if (switches.has('roots-after-initialized')) send({ id: 'early-roots', method: 'roots/list' });
    exitAfterHandshake();
  }
  if (method === 'notifications/cancelled') {
    const id = params?.requestId as RequestId;
    listens.delete(id);
    openCalls.get(id)?.();
    openCalls.delete(id);
  }
}

function onRequest(id: RequestId, method: string, params: Meta): void {
  const meta = (params._meta ?? {}) as Meta;
  const speaksModern = switches.get('era') !== 'legacy';
  if (speaksModern && typeof meta[VERSION_KEY] === 'string') {
    if (meta[VERSION_KEY] === '2026-07-28') answer(id, method, params, true);
    else sendError(id, -32022, 'unsupported', { supported: ['2026-07-28'], requested: meta[VERSION_KEY] });
  } else if (switches.get('era') === 'modern') {
    sendError(id, method === 'initialize' ? -32601 : -32602, 'this server is of the new era');
  } else if (method === 'server/discover') {
    refuseDiscover(id);
  } else if (method === 'initialize') {
    initialize(id, params);
  } else if (method === 'ping' || initialized) {
    answer(id, method, params, false);
  } else {
    sendError(id, -32600, 'not initialized');
  }
}

function refuseDiscover(id: RequestId): void {
  const how = switches.get('discover') ?? '-32601';
  if (how === 'exit') process.exit(1);
  else if (how === 'garbage') process.stdout.write('panic: what is server/discover?\n');
  else if (how !== 'silent') sendError(id, Number(how), 'no such method');
}

function initialize(id: RequestId, { protocolVersion }: Meta): void {
  if (switches.has('log-before-initialize')) {
    send({ method: 'notifications/message', params: { level: 'info', data: 'waking up' } });
  }
  const known = LEGACY_VERSIONS.includes(protocolVersion as string);
  const version = known ? protocolVersion : LEGACY_VERSIONS[0];
  const serverInfo = { name: 'faulty', version: '1.0.0' };
  reply(id, { protocolVersion: version, capabilities: CAPABILITIES, serverInfo });
}

function answer(id: RequestId, method: string, params: Meta, modern: boolean): void {
  const complete = (result: Meta) => {
    const hints = CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
    reply(id, modern ? { resultType: 'complete', ...hints, ...result } : result);
  };
  if (method === 'tools/call') {
    callTool(id, params, complete);
  } else if (method === 'subscriptions/listen' && modern) {
    listens.set(id, params.notifications);
    const tagged = { _meta: { [SUBSCRIPTION_KEY]: id }, notifications: params.notifications };
    send({ method: 'notifications/subscriptions/acknowledged', params: tagged });
  } else {
    const result = plainResult(method, params, modern);
    if (result === undefined) sendError(id, -32601, 'no such method');
    else complete(result);
  }
}

function plainResult(method: string, params: Meta, modern: boolean): Meta | undefined {
  switch (method) {
    case 'server/discover': {
      if (modern) exitAfterHandshake();
      const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'faulty', version: '1.0.0' } };
      return modern ? { supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES, _meta } : undefined;
    }
    case 'tools/list':
      return toolsPage(params.cursor);
    case 'prompts/list':
      return { prompts: [{ name: 'greet', description: 'Says hello' }] };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }] };
    case 'resources/list':
      return { resources: [{ uri: 'faulty://one', name: 'one', mimeType: 'text/plain' }] };
    case 'resources/templates/list':
      return { resourceTemplates: [] };
    case 'resources/read':
      return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'one' }] };
    case 'completion/complete':
      return { completion: { values: ['one', 'two'] } };
    case 'ping':
    case 'logging/setLevel':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return modern ? undefined : {};
    default:
      return undefined;
  }
}

function toolsPage(cursor: unknown): Meta {
  const pages = Number(switches.get('pages') ?? 1);
  const size = Math.ceil(TOOLS.length / pages);
  const page = cursor === undefined ? 0 : Number(cursor);
  const tools = TOOLS.slice(page * size, (page + 1) * size);
  return page + 1 < pages ? { tools, nextCursor: String(page + 1) } : { tools };
}

function callTool(id: RequestId, params: Meta, complete: (result: Meta) => void): void {
  const token = ((params._meta ?? {}) as Meta).progressToken;
  const host: ToolHost = {
    id,
    token,
    params,
    received,
    send,
    raw: (text) => process.stdout.write(text),
    onCancelled: (listener) => openCalls.set(id, listener),
    ask: (questionId, listener) => openQuestions.set(questionId, listener),
    sendToListens(method, listenParams = {}) {
      for (const listen of listens.keys()) {
        send({ method, params: { ...listenParams, _meta: { [SUBSCRIPTION_KEY]: listen } } });
      }
      if (listens.size === 0) send({ method, params: listenParams });
    },
    endListens(gracefully) {
      for (const listen of listens.keys()) {
        if (gracefully) reply(listen, { resultType: 'complete', _meta: { [SUBSCRIPTION_KEY]: listen } });
        else send({ method: 'notifications/cancelled', params: { requestId: listen } });
      }
      listens.clear();
    },
    complete(result) {
      openCalls.delete(id);
      complete(result);
      callsAnswered += 1;
      if (callsAnswered === Number(switches.get('exit-after'))) process.exit(0);
    },
    fail: (code, words) => sendError(id, code, words),
  };
  runTool(host);
}

function exitAfterHandshake(): void {
  if (!switches.has('exit-after-handshake')) return;
  setTimeout(() => process.exit(0), Number(switches.get('exit-after-handshake') || 0));
}

function reply(id: RequestId, result: Meta): void {
  const noisyBytes = Number(switches.get('stderr-before-reply') ?? 0);
  if (noisyBytes > 0) process.stderr.write('x'.repeat(noisyBytes), () => send({ id, result }));
  else send({ id, result });
}

function sendError(id: RequestId, code: number, message: string, data?: unknown): void {
  send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

function send(frame: Frame): void {
  const text = JSON.stringify({ jsonrpc: '2.0', ...frame });
  const half = text.slice(0, text.length / 2);
  const first = framesSent === 0;
  framesSent += 1;
  switch (switches.get('framing')) {
    case undefined:
      return void process.stdout.write(`${text}\n`);
    case 'crlf':
      return void process.stdout.write(`${text}\r\n`);
    case 'bom':
      return void process.stdout.write(`${first ? '\ufeff' : ''}${text}\n`);
    case 'blank-lines':
      return void process.stdout.write(`\n \n\r\n${text}\n\n`);
    case 'noise':
      return void process.stdout.write(`42\n{"level":"info","msg":"hi"}\n[]\nplain words\n"text"\n${text}\n`);
    case 'half-line':
      return void process.stdout.write(`${half}\n${text}\n`);
    case 'half-glued':
      return void process.stdout.write(`${half}${text}\n`);
    case 'banner':
      return void process.stdout.write(`${first ? 'faulty server, listening\n' : ''}${text}\n`);
    case 'banner-glued':
      return void process.stdout.write(`${first ? 'faulty server, listening ' : ''}${text}\n`);
    case 'byte-by-byte':
      for (const byte of Buffer.from(`${text}\n`)) process.stdout.write(Buffer.from([byte]));
      return;
    default:
      throw new Error(`unknown framing ${switches.get('framing')}`);
  }
}

function readSwitches(words: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const word of words.filter(Boolean)) {
    const [, name = '', value = ''] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (!(name in SWITCHES)) throw new Error(`unknown switch ${word}`);
    found.set(name, value);
  }
  return found;
}
