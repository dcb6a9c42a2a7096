// The two ways to get to know a server: `server/discover` (modern) and `initialize` (legacy), and what an answer to
// the first tells about the era (2026-07-28, basic/versioning).
import { GatewayError } from '../errors.ts';
import {
  type Era,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  MODERN_VERSIONS,
} from '../protocol/era.ts';
import { HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION } from '../protocol/error-codes.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import type { ClientIdentity, Peer } from './peer.ts';
import type { ServerTransport } from './transport.ts';
import { unlessAborted } from './within-time.ts';

export interface HandshakeOptions {
  readonly identity: ClientIdentity;
  /** What Portico declares on behalf of the caller; empty on links that several share. */
  readonly clientCapabilities: JsonObject;
  readonly signal: AbortSignal;
}

export type Discovery = { readonly era: 'modern'; readonly peer: Peer } | { readonly era: 'legacy' };

/**
 * Asks `server/discover` and reads the era from the answer; a server that refuses the revision and yet names it among
 * those that it speaks is asked once more.
 *
 * @throws GatewayError server-unavailable where the answer says nothing about the era, or no revision is common
 */
export async function discover(transport: ServerTransport, options: HandshakeOptions): Promise<Discovery> {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const outcome = await askDiscover(transport, options);
    if (eraOfDiscovery(outcome) === 'legacy') return { era: 'legacy' };
    if ('error' in outcome) continue;
    transport.setProtocolVersion(MODERN_VERSION);
    return { era: 'modern', peer: { era: 'modern', version: MODERN_VERSION, ...describe(outcome.result) } };
  }
  throw new GatewayError('server-unavailable', {
    reason: 'discover-refused',
    cause: new Error('the server refuses server/discover in a revision that it says it speaks'),
  });
}

function askDiscover(transport: ServerTransport, options: HandshakeOptions): Promise<JsonRpcOutcome> {
  const params = {
    _meta: {
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: { ...options.identity },
      [META.clientCapabilities]: options.clientCapabilities,
    },
  };
  return transport.call({
    method: 'server/discover',
    params,
    // Takes no place among the calls in flight: `initialize` may have to go out while it is unanswered.
    longLived: true,
    signal: options.signal,
    onMessage: () => {},
  });
}

/**
 * The fallback is not keyed to one error code: everything that is not recognisably modern is legacy.
 *
 * @throws GatewayError server-unavailable when the server is modern but speaks no revision of ours
 */
export function eraOfDiscovery(outcome: JsonRpcOutcome): Era {
  if ('error' in outcome) {
    const { code, data } = outcome.error;
    if (code < UNSUPPORTED_PROTOCOL_VERSION || code > HEADER_MISMATCH) return 'legacy';
    return eraOfVersions(isJsonObject(data) ? data.supported : undefined);
  }
  const versions = outcome.result.supportedVersions;
  return Array.isArray(versions) ? eraOfVersions(versions) : 'legacy';
}

function eraOfVersions(versions: unknown): Era {
  const offered = Array.isArray(versions) ? versions : [];
  if (offered.some((version) => MODERN_VERSIONS.includes(String(version)))) return 'modern';
  if (offered.some((version) => LEGACY_VERSIONS.includes(String(version)))) return 'legacy';
  throw new GatewayError('server-unavailable', {
    reason: 'no-common-version',
    cause: new Error('the server speaks no protocol revision that Portico speaks'),
  });
}

/**
 * The legacy handshake, in its order: initialize, its answer, `notifications/initialized` (2025-11-25, lifecycle).
 *
 * @param offeredVersion the revision to offer; the server may answer an older one
 * @throws GatewayError server-unavailable when the server refuses, or answers a revision that is not ours
 */
export async function initialize(
  transport: ServerTransport,
  options: HandshakeOptions,
  offeredVersion: string = LATEST_LEGACY_VERSION,
): Promise<Peer> {
  const outcome = await transport.call({
    method: 'initialize',
    params: {
      protocolVersion: offeredVersion,
      capabilities: options.clientCapabilities,
      clientInfo: { ...options.identity },
    },
    signal: options.signal,
    onMessage: () => {},
  });
  if ('error' in outcome) {
    throw new GatewayError('server-unavailable', {
      reason: 'initialize-refused',
      cause: new Error(`the server refused initialize with code ${outcome.error.code}`),
    });
  }
  const version = outcome.result.protocolVersion;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    throw new GatewayError('server-unavailable', {
      reason: 'no-common-version',
      cause: new Error('the server answered initialize with a protocol revision that Portico does not speak'),
    });
  }
  transport.setProtocolVersion(version);
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;
  await unlessAborted(transport.notify(initialized), options.signal);
  return { era: 'legacy', version, ...describe(outcome.result) };
}

/** Both results carry the same members; the modern one names the server in `_meta`, the legacy one beside it. */
export function describe(result: JsonObject): Pick<Peer, 'serverInfo' | 'capabilities' | 'instructions'> {
  const meta = isJsonObject(result._meta) ? result._meta : {};
  const serverInfo = isJsonObject(result.serverInfo) ? result.serverInfo : meta[META.serverInfo];
  return {
    serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
    capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  };
}
