// An HTTP transport with the faulty server at its other end, and all that it said. Closed when the test is over.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { HttpServerConfig } from '../../src/config/config.ts';
import { GatewayError } from '../../src/errors.ts';
import type { JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import { type LinkCredential, NO_CREDENTIAL } from '../../src/servers/credentials/link-credential.ts';
import { type HttpTransport, openHttpTransport } from '../../src/servers/http/http-transport.ts';
import { createOutbound, type OutboundConfig } from '../../src/servers/http/outbound.ts';
import { openSseTransport } from '../../src/servers/http/sse-transport.ts';
import type { ServerMessage } from '../../src/servers/transport.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import {
  type FaultyHttpOptions,
  type FaultyHttpServer,
  startFaultyHttpServer,
} from './faulty-http-server.ts';
import { httpServerConfig } from './http-server-config.ts';
import { modernMeta, textOf } from './stdio-rig.ts';

export interface HttpRigOptions extends FaultyHttpOptions {
  readonly config?: Partial<HttpServerConfig>;
  readonly outbound?: Partial<OutboundConfig>;
  /** Where the transport is pointed instead of the server's own URL. */
  readonly url?: (server: FaultyHttpServer) => string;
  readonly onUnsolicited?: (message: ServerMessage) => void;
  readonly credential?: LinkCredential;
}

export interface HttpCallOptions {
  readonly signal?: AbortSignal;
  /** A progress token. */
  readonly token?: unknown;
  readonly paramHeaders?: Record<string, string>;
  readonly longLived?: boolean;
  readonly onMessage?: (message: ServerMessage) => void;
}

export interface HttpRig {
  readonly server: FaultyHttpServer;
  readonly transport: HttpTransport;
  readonly unsolicited: ServerMessage[];
  readonly closed: string[];
  /** Log lines, as JSON. */
  readonly logs: string[];
  request(method: string, params?: JsonObject, options?: HttpCallOptions): Promise<JsonRpcOutcome>;
  /** Calls a tool in the leg's era. */
  tool(name: string, args?: JsonObject, options?: HttpCallOptions): Promise<JsonRpcOutcome>;
  /** The text of the tool's answer. */
  text(name: string, args?: JsonObject, options?: HttpCallOptions): Promise<string>;
}

/** A leg of the new era: there is nothing to agree on. */
export function modernRig(t: TestContext, options: HttpRigOptions = {}): Promise<HttpRig> {
  return openRig(t, 'modern', options);
}

/** A leg of the old era, after its handshake. */
export async function legacyRig(
  t: TestContext,
  options: HttpRigOptions = {},
  version = '2025-11-25',
): Promise<HttpRig> {
  const rig = await openRig(t, 'legacy', options);
  await shakeHands(rig, version);
  return rig;
}

/** The same with HTTP+SSE. */
export async function sseRig(t: TestContext, options: HttpRigOptions = {}): Promise<HttpRig> {
  const rig = await openRig(t, 'sse', { ...options, era: 'sse' });
  await shakeHands(rig, '2024-11-05');
  return rig;
}

export async function shakeHands(rig: HttpRig, protocolVersion: string): Promise<void> {
  const clientInfo = { name: 'rig', version: '1.0.0' };
  const welcome = await rig.request('initialize', { protocolVersion, capabilities: {}, clientInfo });
  assert.ok('result' in welcome);
  rig.transport.setProtocolVersion(String(welcome.result.protocolVersion));
  await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

export async function openRig(
  t: TestContext,
  leg: 'modern' | 'legacy' | 'sse',
  {
    config,
    outbound: outboundConfig,
    url,
    onUnsolicited,
    credential = NO_CREDENTIAL,
    ...serverOptions
  }: HttpRigOptions,
): Promise<HttpRig> {
  const server = await startFaultyHttpServer(serverOptions);
  t.after(() => server.close());
  const outbound = createOutbound({ proxy: undefined, ca: undefined, ...outboundConfig });
  t.after(() => outbound.close());
  const unsolicited: ServerMessage[] = [];
  const closed: string[] = [];
  const logs: string[] = [];
  const budget = new BufferBudget(Number.POSITIVE_INFINITY);
  const options = {
    outbound,
    budget,
    credential,
    logger: createLogger({
      level: 'debug',
      secrets: [],
      destination: { write: (line: string) => void logs.push(line) },
    }),
    events: {
      onUnsolicited(message: ServerMessage) {
        unsolicited.push(message);
        server.changed();
        onUnsolicited?.(message);
      },
      onClosed(reason: string) {
        closed.push(reason);
        server.changed();
      },
    },
  };
  const serverConfig = httpServerConfig(url?.(server) ?? server.url, config);
  const transport =
    leg === 'sse'
      ? await openSseTransport(serverConfig, { ...options, signal: AbortSignal.timeout(5_000) })
      : openHttpTransport(serverConfig, options);
  t.after(async () => {
    await transport.close();
    assert.equal(budget.usedBytes, 0, 'the transport still counts what it held');
  });
  const request: HttpRig['request'] = (method, params = {}, callOptions = {}) => {
    const {
      token: _token,
      signal = new AbortController().signal,
      onMessage = () => {},
      ...rest
    } = callOptions;
    return transport.call({ method, params, signal, onMessage, ...rest });
  };
  const tool: HttpRig['tool'] = (name, args = {}, callOptions = {}) => {
    const _meta = {
      ...(leg === 'modern' && modernMeta()),
      ...('token' in callOptions && { progressToken: callOptions.token }),
    } as JsonObject;
    return request('tools/call', { name, arguments: args, _meta }, callOptions);
  };
  const text: HttpRig['text'] = async (...call) => textOf(await tool(...call));
  return { server, transport, unsolicited, closed, logs, request, tool, text };
}

/** Waits for a refusal of a certain kind, for `assert.rejects`. */
export function failure(code: string, reason?: string): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof GatewayError, `not a failure of ours: ${String(thrown)}`);
    assert.deepEqual([thrown.code, thrown.details.reason], [code, reason]);
    return true;
  };
}

export { modernMeta };
