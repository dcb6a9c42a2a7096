// How Portico introduces one server to a client: the result of `initialize` for a legacy client, of `server/discover`
// for a modern one. Only what really works through us is advertised (F31).
import type { ServerAccess } from '../access/rules/server-access.ts';
import { TARGET_KINDS } from '../access/rules/target-pattern.ts';
import {
  type Era,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  META,
  SUPPORTED_VERSIONS,
} from '../protocol/era.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import type { Peer } from '../servers/peer.ts';

/** The revision that an `initialize` settles on: the client's own if spoken and legacy, else our newest legacy one. */
export function negotiateVersion(requested: unknown): string {
  return typeof requested === 'string' && LEGACY_VERSIONS.includes(requested)
    ? requested
    : LATEST_LEGACY_VERSION;
}

export interface IntroductionOptions {
  /** False where callers share the link: what belongs to one of them would be everybody's. */
  readonly ownLink: boolean;
  readonly access: ServerAccess;
}

export function initializeResult(
  peer: Peer,
  { version, ...options }: IntroductionOptions & { version: string },
): JsonObject {
  return {
    protocolVersion: version,
    capabilities: publicCapabilities(peer, 'legacy', options),
    // Legacy clients demand one; a modern server need not say it.
    serverInfo: peer.serverInfo ?? { name: 'portico', version: '0' },
    ...(peer.instructions === undefined ? {} : { instructions: peer.instructions }),
  };
}

export function discoverResult(
  peer: Peer,
  { ttlMs, ...options }: IntroductionOptions & { ttlMs: number },
): JsonObject {
  return {
    resultType: 'complete',
    supportedVersions: [...SUPPORTED_VERSIONS],
    capabilities: publicCapabilities(peer, 'modern', options),
    ...(peer.instructions === undefined ? {} : { instructions: peer.instructions }),
    ttlMs,
    cacheScope: 'private',
    ...(peer.serverInfo === undefined ? {} : { _meta: { [META.serverInfo]: peer.serverInfo } }),
  };
}

/** A server's capabilities as a client of `era` can use them, as far as its caller may. */
export function publicCapabilities(peer: Peer, era: Era, options: IntroductionOptions): JsonObject {
  return visibleCapabilities(workingCapabilities(peer, era, options.ownLink), options.access);
}

/** Kinds of which nothing is visible are not there; tasks and extensions are for those who may use everything. */
function visibleCapabilities(capabilities: JsonObject, access: ServerAccess): JsonObject {
  if (access.whole) return capabilities;
  const { tasks: _tasks, extensions: _extensions, ...visible } = capabilities;
  for (const kind of TARGET_KINDS) {
    if (!access.sees(kind)) delete visible[kind];
  }
  if (!access.sees('prompts') && !access.sees('resources')) delete visible.completions;
  return visible;
}

function workingCapabilities(peer: Peer, era: Era, ownLink: boolean): JsonObject {
  if (peer.era === 'modern') {
    if (era === 'modern') return peer.capabilities;
    const { extensions: _extensions, ...rest } = peer.capabilities;
    return rest;
  }
  const capabilities = ownLink ? peer.capabilities : withoutOwnership(peer.capabilities);
  if (era === 'legacy') return capabilities;
  const { tasks: _tasks, ...rest } = capabilities;
  return rest;
}

/** Tasks, subscriptions and log levels are kept by a legacy server for its one client, whom it takes Portico to be. */
function withoutOwnership({ tasks: _tasks, logging: _logging, resources, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(resources)) return rest;
  const { subscribe: _subscribe, ...shared } = resources;
  return { ...rest, resources: shared };
}
