// A stdio transport with the faulty server at its other end, and all that it said. Closed when the test is over, and
// held to it that neither a process nor a byte of it is left.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StdioServerConfig } from '../../src/config/config.ts';
import type { JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import {
  type StdioTimings,
  type StdioTransport,
  startStdioTransport,
} from '../../src/servers/stdio/stdio-transport.ts';
import type { ServerMessage } from '../../src/servers/transport.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { childrenFolder } from './children-folder.ts';

export const FAULTY_SERVER = fileURLToPath(new URL('faulty-stdio-server.ts', import.meta.url));

/** Where a child runs that may run anywhere. */
export const ANY_FOLDER = import.meta.dirname;

/** Short enough for a test, long enough for a busy machine. */
export const QUICK_STOP: StdioTimings = {
  inputGraceMs: 300,
  sigtermGraceMs: 300,
  sigkillGraceMs: 5_000,
  outputDrainMs: 200,
};

export function faultyConfig(
  switches: readonly string[] = [],
  changes: Partial<StdioServerConfig> = {},
): StdioServerConfig {
  return {
    type: 'stdio',
    slug: 'faulty',
    name: 'faulty',
    prefix: changes.slug ?? 'faulty',
    command: process.execPath,
    args: [FAULTY_SERVER, ...switches],
    env: {},
    cwd: ANY_FOLDER,
    privateHome: true,
    resources: undefined,
    user: undefined,
    group: undefined,
    warm: 0,
    protocol: 'auto',
    isolation: 'auto',
    client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' },
    startTimeoutMs: 10_000,
    callTimeoutMs: 10_000,
    maxCallTimeMs: 60_000,
    idleTimeoutMs: 60_000,
    maxLinks: 8,
    maxInFlight: 256,
    queue: { max: 1024, timeoutMs: 10_000 },
    maxMessageBytes: 32 * 1024 * 1024,
    tools: { allow: ['*'], deny: [] },
    overrides: { tools: {} },
    ...changes,
  };
}

export interface RigOptions {
  readonly config?: Partial<StdioServerConfig>;
  readonly timings?: Partial<StdioTimings>;
  readonly onUnsolicited?: (message: ServerMessage) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** A progress token. */
  readonly token?: unknown;
  readonly onMessage?: (message: ServerMessage) => void;
}

export interface StdioRig {
  readonly transport: StdioTransport;
  readonly unsolicited: ServerMessage[];
  readonly closed: string[];
  /** Log lines, as JSON. */
  readonly logs: string[];
  request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonRpcOutcome>;
  /** Calls a tool in the new era, which needs no handshake. */
  tool(name: string, args?: JsonObject, options?: CallOptions): Promise<JsonRpcOutcome>;
  /** The text of the tool's answer. */
  text(name: string, args?: JsonObject, options?: CallOptions): Promise<string>;
  /** Resolves when the wire is gone. */
  readonly gone: Promise<string>;
}

export async function startRig(
  t: TestContext,
  switches: readonly string[] = [],
  { config = {}, timings = {}, onUnsolicited }: RigOptions = {},
): Promise<StdioRig> {
  const unsolicited: ServerMessage[] = [];
  const closed: string[] = [];
  const logs: string[] = [];
  const gone = Promise.withResolvers<string>();
  const budget = new BufferBudget(Number.POSITIVE_INFINITY);
  const folder = childrenFolder(config.cwd);
  const transport = await startStdioTransport(faultyConfig(switches, { ...config, cwd: folder.path }), {
    budget,
    logger: createLogger({
      level: 'debug',
      secrets: [],
      destination: { write: (line: string) => void logs.push(line) },
    }),
    timings: { ...QUICK_STOP, ...timings },
    events: {
      onUnsolicited(message) {
        unsolicited.push(message);
        onUnsolicited?.(message);
      },
      onClosed(reason) {
        closed.push(reason);
        gone.resolve(reason);
      },
    },
  });
  t.after(async () => {
    await transport.close();
    await folder.assertDeserted();
    assert.equal(budget.usedBytes, 0, 'the transport still counts what it held');
  });
  const request: StdioRig['request'] = (method, params = {}, options = {}) => {
    const { signal = new AbortController().signal, onMessage = () => {} } = options;
    return transport.call({ method, params, signal, onMessage });
  };
  const tool: StdioRig['tool'] = (name, args = {}, options = {}) => {
    const _meta = {
      ...modernMeta(),
      ...('token' in options && { progressToken: options.token }),
    } as JsonObject;
    return request('tools/call', { name, arguments: args, _meta }, options);
  };
  const text: StdioRig['text'] = async (...call) => textOf(await tool(...call));
  return { transport, unsolicited, closed, logs, gone: gone.promise, request, tool, text };
}

export function modernMeta(): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'rig', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}

export function textOf(outcome: JsonRpcOutcome): string {
  if ('error' in outcome) throw new Error(`the server answered with error ${outcome.error.code}`);
  // As it goes on: a long text has not been read yet.
  const { content = [] } = JSON.parse(JSON.stringify(outcome.result)) as { content?: JsonObject[] };
  return String(content[0]?.text);
}
