// Connections to HTTP servers: one undici agent a server and use, through the configured proxy, trusting the
// configured authorities. Every limit is explicit; the one deadline of a call is not kept here (UpstreamCall.signal).
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { HttpServerConfig } from '../../config/config.ts';
import { bypassesProxy } from '../../config/no-proxy.ts';

/**
 * Kept apart, so that none can take the connections of another: calls end some time; streams stay open for as long as
 * their session; notices (notifications, answers, DELETE) are short, and a call may be waiting for one.
 */
export type OutboundUse = 'calls' | 'streams' | 'notices';

export interface Outbound {
  /** The agent for a server, made at its first use. It follows no redirect, caches nothing and keeps no cookie. */
  dispatcherFor(server: HttpServerConfig, use: OutboundUse): Dispatcher;
  /** The agent for a URL of no server, such as an issuer's; the same limits, proxy and authorities. */
  dispatcherTo(url: URL): Dispatcher;
  /** Lets go of a server that left the config, once its requests have ended. */
  release(server: HttpServerConfig): Promise<void>;
  /** Breaks whatever is still open. Idempotent. */
  close(): Promise<void>;
}

export interface OutboundConfig {
  readonly proxy: string | undefined;
  /** Hosts that are reached without it, besides loopback ones. */
  readonly noProxy?: readonly string[];
  /** PEM text of authorities trusted besides the public ones. */
  readonly ca: string | undefined;
  /** Sockets to one server at most; further requests wait for one to be free. */
  readonly maxConnections?: Readonly<Partial<Record<OutboundUse, number>>>;
}

const MAX_CONNECTIONS: Readonly<Record<OutboundUse, number>> = { calls: 1_024, streams: 4_096, notices: 64 };
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A request written to a connection that the server is just closing is lost, and a tool call must not be sent twice.
 * So an idle connection is let go before the server would: servers that announce no `Keep-Alive: timeout` close after
 * 2 s (gunicorn) or 5 s (uvicorn); of an announced time, 2 s are kept as a margin.
 */
const KEEP_ALIVE = {
  keepAliveTimeout: 1_500,
  keepAliveTimeoutThreshold: 2_000,
  keepAliveMaxTimeout: 30_000,
} as const;

export function createOutbound(config: OutboundConfig): Outbound {
  const agents = new Map<string, Map<OutboundUse, Dispatcher>>();
  const places = new WeakMap<HttpServerConfig, Place>();
  const general = new Map<Way, Dispatcher>();

  // By what makes connections differ, not by the object: a variant of a server's config shares its connections.
  // Found out once: reading the URL again for each request costs more than looking up its agent.
  function placeOf(server: HttpServerConfig): Place {
    const known = places.get(server);
    if (known !== undefined) return known;
    const url = new URL(server.url);
    const place: Place = {
      key: JSON.stringify([server.slug, url.host, server.tls]),
      way: wayTo(url, config),
    };
    places.set(server, place);
    return place;
  }

  return {
    dispatcherFor(server, use) {
      const { key, way } = placeOf(server);
      const ofServer = agents.get(key) ?? new Map<OutboundUse, Dispatcher>();
      const known = ofServer.get(use);
      if (known !== undefined) return known;
      const agent = createAgent(config, server, { use, way });
      agents.set(key, ofServer.set(use, agent));
      return agent;
    },
    dispatcherTo(url) {
      const way = wayTo(url, config);
      const agent = general.get(way) ?? createAgent(config, undefined, { use: 'calls', way });
      general.set(way, agent);
      return agent;
    },
    async release(server) {
      const { key } = placeOf(server);
      const ofServer = [...(agents.get(key)?.values() ?? [])];
      agents.delete(key);
      await Promise.all(ofServer.map((agent) => agent.close()));
    },
    async close() {
      const all = [...agents.values(), general].flatMap((some) => [...some.values()]);
      agents.clear();
      await Promise.all(all.map((agent) => agent.destroy()));
    },
  };
}

type Way = 'direct' | 'proxied';

interface Place {
  readonly key: string;
  readonly way: Way;
}

function wayTo(url: URL, { proxy, noProxy = [] }: OutboundConfig): Way {
  return proxy === undefined || bypassesProxy(url, noProxy) ? 'direct' : 'proxied';
}

function createAgent(
  config: OutboundConfig,
  server: HttpServerConfig | undefined,
  { use, way }: { use: OutboundUse; way: Way },
): Dispatcher {
  const limits = {
    connections: config.maxConnections?.[use] ?? MAX_CONNECTIONS[use],
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A tool may be silent for as long as its call may run: the deadline above counts, to the last byte (F43).
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    // One connection a stream. Over HTTP/2 one slow stream, or one lost connection, would take a hundred along.
    allowH2: false,
    ...KEEP_ALIVE,
  };
  const secureContext = secureContextFor(config, server);
  if (config.proxy === undefined || way === 'direct') {
    const connect = buildConnector({ secureContext, timeout: CONNECT_TIMEOUT_MS, allowH2: false });
    // No redirect leaves a server's origin, so what an agent does to tell origins apart is not needed.
    return server === undefined
      ? new Agent({ ...limits, connect })
      : new Pool(new URL(server.url).origin, { ...limits, connect });
  }
  return new ProxyAgent({
    ...limits,
    uri: config.proxy,
    requestTls: { secureContext, allowH2: false },
    proxyTls: { secureContext: secureContextFor(config, undefined), allowH2: false },
    // Both of undici's own factories drop the limits on one of the two paths.
    factory: (origin, options) => new Pool(origin, { ...limits, ...options }),
    // This pool speaks CONNECT alone: a proxy that never answers it must not hold calls for longer than a dead host.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_TIMEOUT_MS }),
  });
}

/** Made once an agent: reading all authorities again for each connection costs milliseconds. */
function secureContextFor(config: OutboundConfig, server: HttpServerConfig | undefined): SecureContext {
  const { ca, cert, key } = server?.tls ?? {};
  // A server's own `tls.ca` is the only authority for it: whoever names one does not mean the public ones as well.
  const authorities = ca === undefined ? trustedBesides(config.ca) : [ca];
  return createSecureContext({
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

/** Node's `ca` replaces the public authorities, so they are named again. Undefined means Node's default. */
function trustedBesides(extra: string | undefined): string[] | undefined {
  return extra === undefined ? undefined : [...getCACertificates('default'), extra];
}
