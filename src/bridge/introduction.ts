// How Portico introduces one server to a client: the result of `initialize` for a legacy client, of `server/discover`
// for a modern one. Only what really works through us is advertised (F31).
import {
  type Era,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  META,
  SUPPORTED_VERSIONS,
} from '../protocol/era.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';
import type { Peer } from '../servers/peer.ts';

/** The revision that an `initialize` settles on: the client's own if spoken and legacy, else our newest legacy one. */
export function negotiateVersion(requested: unknown): string {
  return typeof requested === 'string' && LEGACY_VERSIONS.includes(requested)
    ? requested
    : LATEST_LEGACY_VERSION;
}

export function initializeResult(peer: Peer, version: string, ownLink: boolean): JsonObject {
  return {
    protocolVersion: version,
    capabilities: publicCapabilities(peer, 'legacy', ownLink),
    // Legacy clients demand one; a modern server need not say it.
    serverInfo: peer.serverInfo ?? { name: 'portico', version: '0' },
    ...(peer.instructions === undefined ? {} : { instructions: peer.instructions }),
  };
}

export function discoverResult(peer: Peer, ttlMs: number): JsonObject {
  return {
    resultType: 'complete',
    supportedVersions: [...SUPPORTED_VERSIONS],
    capabilities: publicCapabilities(peer, 'modern', false),
    ...(peer.instructions === undefined ? {} : { instructions: peer.instructions }),
    ttlMs,
    cacheScope: 'private',
    ...(peer.serverInfo === undefined ? {} : { _meta: { [META.serverInfo]: peer.serverInfo } }),
  };
}

/**
 * A server's capabilities as a client of `era` can use them. Across the eras notifications are not carried, so
 * nothing that promises one is passed on.
 */
export function publicCapabilities(peer: Peer, era: Era, ownLink: boolean): JsonObject {
  if (peer.era === era) {
    return era === 'legacy' && !ownLink ? withoutOwnership(peer.capabilities) : peer.capabilities;
  }
  const { tasks: _tasks, logging: _logging, extensions: _extensions, ...rest } = peer.capabilities;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, withoutPromises(value)]));
}

/** On a link that several callers share, a task or a subscription of one would be everybody's. */
function withoutOwnership({ tasks: _tasks, resources, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(resources)) return rest;
  const { subscribe: _subscribe, ...shared } = resources;
  return { ...rest, resources: shared };
}

function withoutPromises(capability: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(capability)) return capability;
  const { listChanged: _listChanged, subscribe: _subscribe, ...rest } = capability;
  return rest;
}
