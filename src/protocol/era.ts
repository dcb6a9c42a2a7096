// The protocol's two eras, and the revisions that Portico speaks on either side.

/** `modern`: per-request metadata, from 2026-07-28 on. `legacy`: an `initialize` handshake. */
export type Era = 'modern' | 'legacy';

export const MODERN_VERSION = '2026-07-28';
export const MODERN_VERSIONS: readonly string[] = [MODERN_VERSION];
/** Newest first. 2024-11-05 is spoken to clients that ask for it, over the one `/mcp` endpoint. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const LATEST_LEGACY_VERSION = '2025-11-25';
/** What a request without a version header speaks (2025-11-25, transports, "Protocol Version Header"). */
export const DEFAULT_LEGACY_VERSION = '2025-03-26';
/** The only list of ours that reaches a client: `supportedVersions`, and `data.supported` of -32022. */
export const SUPPORTED_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

const REVISION = /^\d{4}-\d{2}-\d{2}$/;

/** Revisions are dates, so they order as strings; an unknown later one is modern too, though not spoken. */
export function isModernVersion(version: string): boolean {
  return REVISION.test(version) && version >= MODERN_VERSION;
}

/** True when `version` is `since` or newer. */
export function isAtLeast(version: string, since: string): boolean {
  return version >= since;
}

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;
