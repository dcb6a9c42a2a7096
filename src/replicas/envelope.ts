// What goes before a message that one replica hands to another: one line of JSON that says whose message it is, signed.
// It is for one replica, for a minute, and for once. Pure but for the nonces that it remembers.
import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '../access/principal.ts';
import { isJsonObject, readJson, writeJson } from '../protocol/json-text.ts';
import { isForwarded } from './forwarded-headers.ts';
import type { RecentNonces } from './recent-nonces.ts';
import { isMacOf, macOf, type ReplicaKeys } from './replica-keys.ts';
import type { ForwardedExchange } from './replicas.ts';

export const SIGNATURE_HEADER = 'portico-signature';
/** Longest envelope line: all headers that are read, and what the longest token says, fit several times. */
export const MAX_ENVELOPE_BYTES = 512 * 1024;
/** How far the clocks of two replicas may be apart. */
export const CLOCK_TOLERANCE_MS = 30_000;

const VERSION = 2;
const NONCE_BYTES = 16;

export interface SealedEnvelope {
  /** Without a line end. */
  readonly line: Buffer;
  readonly signature: string;
  readonly nonce: string;
}

export interface EnvelopeRoute {
  /** Ids of replicas. */
  readonly from: string;
  readonly to: string;
  readonly key: ReplicaKeys['envelope'];
  /** `Date.now()` */
  readonly now: number;
}

export function sealEnvelope(sent: ForwardedExchange, { from, to, key, now }: EnvelopeRoute): SealedEnvelope {
  const { body, kind, id, httpMethod, view, headers, principal, address, credentials } = sent;
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const digest = digestOf(body);
  const line = Buffer.from(
    writeJson({
      ...{ v: VERSION, from, to, at: now, nonce, digest },
      ...{ kind, id, httpMethod, view, headers, principal, address, credentials },
    }),
  );
  return { line, nonce, signature: macOf(key, line) };
}

/** Why an envelope is not taken; for our own log and metrics alone. */
export type EnvelopeFault = 'signature' | 'shape' | 'addressee' | 'time' | 'replayed' | 'digest';

export interface OpenedEnvelope {
  readonly from: string;
  readonly nonce: string;
  /** SHA-256 of the message that follows, base64url. */
  readonly digest: string;
  readonly exchange: Omit<ForwardedExchange, 'body'>;
}

export interface OpenEnvelopeOptions {
  readonly key: ReplicaKeys['envelope'];
  /** The id of the replica that got it. */
  readonly self: string;
  readonly now: number;
  readonly nonces: RecentNonces;
}

/** Nothing of the line is looked at before its signature has proven right. */
export function openEnvelope(
  line: Buffer,
  signature: unknown,
  { key, self, now, nonces }: OpenEnvelopeOptions,
): OpenedEnvelope | EnvelopeFault {
  if (!isMacOf(key, line, signature)) return 'signature';
  const read = readEnvelope(line);
  if (read === undefined) return 'shape';
  if (read.to !== self) return 'addressee';
  const freshness = nonces.take(read.nonce, read.at, now);
  return freshness === 'fresh' ? read : freshness;
}

export function isDigestOf(digest: string, body: Buffer): boolean {
  return digest === digestOf(body);
}

function digestOf(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64url');
}

/** A replica of another version may have signed what this one does not understand. */
function readEnvelope(line: Buffer): (OpenedEnvelope & { to: string; at: number }) | undefined {
  const value = parse(line);
  if (!isJsonObject(value) || value.v !== VERSION) return undefined;
  const { from, to, at, nonce, digest, kind, id, httpMethod, view } = value;
  const { headers, principal, address, credentials } = value;
  if (typeof from !== 'string' || typeof to !== 'string' || typeof nonce !== 'string') return undefined;
  if (typeof at !== 'number' || typeof digest !== 'string' || typeof id !== 'string') return undefined;
  if (kind !== 'permitted' && kind !== 'undecided' && kind !== 'left') return undefined;
  if (httpMethod !== 'POST' && httpMethod !== 'GET' && httpMethod !== 'DELETE') return undefined;
  if (!isOptionalText(view) || typeof address !== 'string' || !areHeaders(headers)) return undefined;
  if (!isOptionalText(credentials)) return undefined;
  const whose = readPrincipal(principal);
  if (whose === undefined) return undefined;
  return {
    ...{ from, to, at, nonce, digest },
    exchange: { kind, id, httpMethod, view, headers, principal: whose, address, credentials },
  };
}

function readPrincipal(value: unknown): Principal | undefined {
  if (!isJsonObject(value)) return undefined;
  const { issuer, subject, clientId, scopes, groups, claims, tokenId, expiresAtMs } = value;
  if (typeof issuer !== 'string' || typeof subject !== 'string' || typeof clientId !== 'string')
    return undefined;
  if (!areTexts(scopes) || !areTexts(groups) || !isJsonObject(claims)) return undefined;
  if (!isOptionalText(tokenId) || (expiresAtMs !== undefined && typeof expiresAtMs !== 'number'))
    return undefined;
  return { issuer, subject, clientId, scopes, groups, claims, tokenId, expiresAtMs };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function areHeaders(value: unknown): value is Record<string, string> {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(([name, text]) => typeof text === 'string' && isForwarded(name))
  );
}

function parse(line: Buffer): unknown {
  try {
    return readJson(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
