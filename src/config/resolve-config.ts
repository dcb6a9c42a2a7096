// From a valid file to the configuration that the rest of the code sees: numbers for units, texts for files, absolute
// paths, slugs.

import { resolve } from 'node:path';
import type { AccessConfig } from './access-config.ts';
import type { AuditConfig } from './audit-config.ts';
import type { AuthConfig } from './auth-config.ts';
import { parseByteSize } from './byte-size.ts';
import type { Config, GatewayConfig, ServerConfig } from './config.ts';
import { parseDuration } from './duration.ts';
import type { LimitConfig, LimitKeyPart, RedisConfig } from './limits-config.ts';
import { splitNoProxy } from './no-proxy.ts';
import { decodePercent } from './percent-encoding.ts';
import { literalFolder, type PersonalEnv, type PersonalPart } from './personal-value.ts';
import type { PinsConfig } from './pins.ts';
import { defaultPublicUrl } from './public-url.ts';
import type { PersonalVariable } from './resolve-placeholders.ts';
import type { ConfigFile, GatewaySection, ServerEntry } from './schema.ts';
import type { ServerAuthConfig } from './server-auth-config.ts';
import { serverTypeOf } from './server-rules.ts';
import type { ToolOverrides } from './shape-config.ts';
import { slugOf } from './slug.ts';

export interface ResolveInput {
  readonly file: ConfigFile;
  /** The folder of the config file. */
  readonly folder: string;
  readonly pem: ReadonlyMap<string, string>;
  readonly pins: PinsConfig | undefined;
  readonly secrets: readonly string[];
  readonly personal: readonly PersonalVariable[];
}

export function resolveConfig({ file, folder, pem, pins, secrets, personal }: ResolveInput): Config {
  const servers = Object.entries(file.mcpServers)
    .filter(([, entry]) => !entry.disabled)
    .map(([name, entry]) => resolveServer(name, entry, { folder, pem, personal }));
  return { servers, gateway: { ...resolveGateway(file.gateway, { folder, pem }), pins }, secrets };
}

type Surroundings = Pick<ResolveInput, 'folder' | 'pem' | 'personal'>;

function resolveServer(name: string, entry: ServerEntry, surroundings: Surroundings): ServerConfig {
  const { folder, pem } = surroundings;
  const common = commonPart(name, entry);
  const type = serverTypeOf(entry);
  if (type === 'stdio') {
    const command = present(entry.command);
    return {
      ...common,
      type,
      command: /^\.{1,2}[\\/]/.test(command) ? resolve(folder, command) : command,
      args: entry.args,
      ...environment(name, entry, surroundings),
      cwd: resolve(folder, entry.cwd ?? '.'),
      privateHome: entry.privateHome,
      resources: entry.resources && resolveResources(entry.resources),
      user: entry.user,
      group: entry.group,
      warm: entry.warm,
    };
  }
  const address = withoutUserinfo(present(entry.url), entry.headers);
  return {
    ...common,
    type,
    ...address,
    tls: texts(entry.tls, pem),
    auth: entry.auth && resolveServerAuth(entry.auth, address.url),
  };
}

function environment(name: string, { env }: ServerEntry, { folder, personal }: Surroundings) {
  const own = personal.filter(({ path }) => path[1] === name);
  if (own.length === 0) return { env: { ...env } };
  const ofCaller: [string, PersonalEnv[string]][] = own.map(({ path, value }) => [
    String(path[3]),
    value.map((part) => absolute(part, folder)),
  ]);
  const fixed = Object.entries(env).filter(([variable]) => !ofCaller.some(([known]) => known === variable));
  return { env: Object.fromEntries(fixed), personalEnv: Object.fromEntries(ofCaller) };
}

function absolute(part: PersonalPart, folder: string): PersonalPart {
  const [first, ...rest] = part.kind === 'file' ? part.path : [];
  if (part.kind !== 'file' || first?.kind !== 'text') return part;
  const literal = literalFolder(part.path);
  const text = `${resolve(folder, literal)}/${first.text.slice(literal.length)}`;
  return { ...part, path: [{ ...first, text }, ...rest] };
}

function resolveServerAuth(auth: NonNullable<ServerEntry['auth']>, url: string): ServerAuthConfig {
  const { origin, pathname } = new URL(url);
  // A query may hold a key, which is nobody else's business.
  const named = origin + pathname;
  if (auth.type === 'bearer') return { ...auth };
  if (auth.type === 'identity') return { type: auth.type, audience: auth.audience ?? named };
  const { clientSecret, audience } = auth;
  const resource = auth.resource ?? (audience === undefined ? named : undefined);
  return { ...auth, clientSecret, audience, resource };
}

function commonPart(name: string, entry: ServerEntry) {
  const slug = slugOf(name);
  const maxCallTimeMs = milliseconds(entry.maxCallTime);
  const roots = entry.client.roots ?? (serverTypeOf(entry) === 'stdio' ? 'deny' : 'allow');
  return {
    slug,
    name,
    // Dots are for paths: clients refuse them in names. No slug has the other sign, so no two become one.
    prefix: entry.prefix ?? slug.replaceAll('.', '_'),
    protocol: entry.protocol,
    isolation: entry.isolation,
    client: {
      ...entry.client,
      roots: typeof roots === 'string' ? roots : roots.map((root) => ({ ...root })),
    },
    startTimeoutMs: milliseconds(entry.startTimeout),
    callTimeoutMs: Math.min(milliseconds(entry.callTimeout), maxCallTimeMs),
    maxCallTimeMs,
    idleTimeoutMs: milliseconds(entry.idleTimeout),
    maxLinks: entry.maxLinks,
    maxInFlight: entry.maxInFlight,
    queue: { max: entry.queue.max, timeoutMs: milliseconds(entry.queue.timeout) },
    maxMessageBytes: bytes(entry.maxMessage),
    tools: { ...entry.tools },
    overrides: { tools: resolveOverrides(entry.overrides.tools) },
  };
}

function resolveResources({ memory, cpuSeconds, openFiles }: NonNullable<ServerEntry['resources']>) {
  return { memoryBytes: bytes(memory), cpuSeconds, openFiles };
}

function resolveOverrides(tools: ServerEntry['overrides']['tools']): ToolOverrides {
  const resolved = Object.entries(tools).map(([name, { annotations, ...shown }]) => {
    return [name, annotations === undefined ? shown : { ...shown, annotations: { ...annotations } }] as const;
  });
  return Object.fromEntries(resolved);
}

/** A user and password in the URL become a header, so that the URL itself can be shown. */
function withoutUserinfo(url: string, headers: ServerEntry['headers']) {
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return { url, headers: { ...headers } };
  const credentials = present(decodePercent(`${parsed.username}:${parsed.password}`));
  parsed.username = '';
  parsed.password = '';
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: parsed.href, headers: { ...headers, authorization } };
}

function resolveGateway(
  section: GatewaySection,
  { folder, pem }: Omit<Surroundings, 'personal'>,
): Omit<GatewayConfig, 'pins'> {
  const { listen, admin, sessions, parked, lists, outbound, drain } = section;
  const { host, port } = listen;
  return {
    listen: {
      host,
      port,
      tls: listen.tls && { cert: present(pem.get(listen.tls.cert)), key: present(pem.get(listen.tls.key)) },
    },
    admin: admin === false ? undefined : { ...admin, hosts: lowerCase(admin.hosts), token: admin.token },
    publicUrl: section.publicUrl ?? defaultPublicUrl({ host, port, tls: listen.tls !== undefined }),
    insecure: section.insecure,
    auth: section.auth && resolveAuth(section.auth),
    access: section.access && resolveAccess(section.access),
    identity: section.identity && resolveIdentity(section.identity, pem),
    limits: section.limits.map((limit) => resolveLimit(limit, section.redis !== undefined)),
    redis: section.redis && resolveRedis(section.redis),
    replica: section.replica && { ...section.replica, listen: { ...section.replica.listen } },
    audit: section.audit && resolveAudit(section.audit, folder),
    trustedProxies: section.trustedProxies,
    origins: section.origins,
    hosts: lowerCase(section.hosts),
    bodyLimitBytes: bytes(section.bodyLimit),
    maxBufferedBytes: bytes(section.maxBuffered),
    sessions: {
      idleTimeoutMs: milliseconds(sessions.idleTimeout),
      maxAgeMs: milliseconds(sessions.maxAge),
      max: sessions.max,
      maxPerPrincipal: sessions.maxPerPrincipal,
      replay: { bytes: bytes(sessions.replay.bytes), forMs: milliseconds(sessions.replay.for) },
    },
    processes: {
      max: section.processes.max,
      maxPerPrincipal: section.processes.maxPerPrincipal ?? defaultPerPrincipal(section, 16),
    },
    streams: { maxPerPrincipal: section.streams.maxPerPrincipal ?? defaultPerPrincipal(section, 100) },
    parked: {
      timeoutMs: milliseconds(parked.timeout),
      max: parked.max,
      maxPerPrincipal: parked.maxPerPrincipal,
    },
    names: section.names,
    lists: {
      timeoutMs: milliseconds(lists.timeout),
      staleForMs: milliseconds(lists.staleFor),
      ttlMs: milliseconds(lists.ttl),
    },
    toolsets: { ...section.toolsets },
    outbound: {
      proxy: outbound.proxy,
      noProxy: splitNoProxy(outbound.noProxy),
      ca: outbound.ca === undefined ? undefined : pem.get(outbound.ca),
    },
    drain: { delayMs: milliseconds(drain.delay), graceMs: milliseconds(drain.grace) },
    log: { ...section.log },
  };
}

/** Without sign-in everyone is one principal, who is not to be held to the share of one person. */
function defaultPerPrincipal({ auth }: GatewaySection, max: number): number {
  return auth === undefined ? Number.POSITIVE_INFINITY : max;
}

function resolveAuth(auth: NonNullable<GatewaySection['auth']>): AuthConfig {
  const issuers = auth.issuers.map(({ jwksUri, introspection, ...issuer }) => ({
    ...issuer,
    jwksUri,
    introspection: introspection && { ...introspection },
  }));
  return { ...auth, issuers };
}

function resolveIdentity(
  { key, next, previous }: NonNullable<GatewaySection['identity']>,
  pem: ResolveInput['pem'],
): GatewayConfig['identity'] {
  const textOf = (written: string) => present(pem.get(written));
  return { key: textOf(key), next: next.map(textOf), previous: previous.map(textOf) };
}

function resolveAccess({ rules, scopes, scopeImplies }: NonNullable<GatewaySection['access']>): AccessConfig {
  const everyone = { groups: [], scopes: [], subjects: [], clients: [], issuers: [] };
  return {
    rules: rules.map((rule) => ({ ...rule, when: { ...everyone, ...rule.when }, if: rule.if })),
    scopes: { ...scopes },
    scopeImplies: { ...scopeImplies },
  };
}

function resolveLimit(limit: GatewaySection['limits'][number], isShared: boolean): LimitConfig {
  return {
    name: limit.name,
    key: limit.key.split('+') as LimitKeyPart[],
    match: limit.match,
    max: limit.max,
    windowMs: milliseconds(limit.window),
    inFlight: limit.inFlight,
    cost: limit.cost && { ...limit.cost },
    // In process, counting one by one costs nothing.
    lease: isShared ? limit.lease : undefined,
  };
}

function resolveRedis({ url, keyPrefix, timeout }: NonNullable<GatewaySection['redis']>): RedisConfig {
  return { url, keyPrefix, timeoutMs: milliseconds(timeout) };
}

function resolveAudit(
  { file, key, maxSize, ...rest }: NonNullable<GatewaySection['audit']>,
  folder: string,
): AuditConfig {
  return { ...rest, path: resolve(folder, file), key, maxBytes: bytes(maxSize) };
}

function texts(tls: ServerEntry['tls'], pem: ResolveInput['pem']) {
  if (tls === undefined) return undefined;
  const named = Object.entries(tls).filter((role): role is [string, string] => role[1] !== undefined);
  return Object.fromEntries(named.map(([role, name]) => [role, present(pem.get(name))]));
}

function lowerCase(values: readonly string[]): string[] {
  return values.map((value) => value.toLowerCase());
}

function milliseconds(text: string): number {
  return present(parseDuration(text));
}

function bytes(text: string): number {
  return present(parseByteSize(text));
}

/** For what the checks before have made sure of. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a config was resolved that had not been checked');
  return value;
}
