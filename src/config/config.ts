// The configuration as the rest of the code sees it: resolved, checked, with every default filled in. Durations are
// milliseconds, sizes bytes. `load` makes it from a file; `schema` describes the file.

import type { AccessConfig } from './access-config.ts';
import type { AuditConfig } from './audit-config.ts';
import type { AuthConfig } from './auth-config.ts';
import type { LimitConfig, RedisConfig } from './limits-config.ts';
import type { PersonalEnv } from './personal-value.ts';
import type { PinsConfig } from './pins.ts';
import type { ReplicaConfig } from './replica-config.ts';
import type { IdentityConfig, ServerAuthConfig } from './server-auth-config.ts';
import type { ToolOverrides, ToolSelection } from './shape-config.ts';

export interface Config {
  /** In the file's order, which is the order of merged lists. Disabled servers are left out. */
  readonly servers: readonly ServerConfig[];
  readonly gateway: GatewayConfig;
  /**
   * Credentials in this config, whether from the environment, from files or written in it, the longest first: never
   * to be printed or logged, wherever they turn up.
   */
  readonly secrets: readonly string[];
}

export type ProtocolChoice = 'auto' | 'modern' | 'legacy';
export type Isolation = 'auto' | 'shared' | 'principal' | 'session';
/** A fixed list is answered by Portico itself. */
export type RootsPolicy = 'allow' | 'deny' | readonly { readonly uri: string; readonly name?: string }[];

export interface ClientFeaturePolicy {
  readonly roots: RootsPolicy;
  readonly sampling: 'allow' | 'deny';
  readonly elicitation: 'allow' | 'deny';
}

interface ServerCommon {
  /** [a-z]([a-z0-9.-]*[a-z0-9])?, at most 32 characters: the path segment. */
  readonly slug: string;
  /** The name as the file has it. */
  readonly name: string;
  /** Before its names of tools and prompts on a view of several servers; may be empty. [A-Za-z0-9_-]{0,32} */
  readonly prefix: string;
  readonly protocol: ProtocolChoice;
  readonly isolation: Isolation;
  readonly client: ClientFeaturePolicy;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxCallTimeMs: number;
  readonly idleTimeoutMs: number;
  readonly maxLinks: number;
  readonly maxInFlight: number;
  readonly queue: { readonly max: number; readonly timeoutMs: number };
  readonly maxMessageBytes: number;
  readonly tools: ToolSelection;
  readonly overrides: { readonly tools: ToolOverrides };
}

export interface StdioServerConfig extends ServerCommon {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that are made for each caller; never together with isolation `auto` or `shared`. */
  readonly personalEnv?: PersonalEnv | undefined;
  /** Absolute; the config file's folder when the file says nothing. */
  readonly cwd: string;
  /** A process of one principal or session gets a home and a folder for temporary files of its own. */
  readonly privateHome: boolean;
  /** Undefined: those of Portico itself. */
  readonly resources:
    | {
        readonly memoryBytes: number;
        readonly cpuSeconds: number | undefined;
        readonly openFiles: number | undefined;
      }
    | undefined;
  /** Names or numbers; undefined: our own. */
  readonly user: string | undefined;
  readonly group: string | undefined;
  /** Processes kept started for callers to come. */
  readonly warm: number;
}

export interface HttpServerConfig extends ServerCommon {
  readonly type: 'http' | 'sse';
  readonly url: string;
  /** Credentials of the URL among them; names as configured, values fit to be sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM texts. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
  /** Undefined: what `headers` hold is all. */
  readonly auth?: ServerAuthConfig | undefined;
}

export type ServerConfig = StdioServerConfig | HttpServerConfig;

export interface GatewayConfig {
  readonly listen: {
    readonly host: string;
    readonly port: number;
    /** PEM texts, read from the files that the config names. */
    readonly tls: { readonly cert: string; readonly key: string } | undefined;
  };
  readonly admin:
    | {
        readonly host: string;
        readonly port: number;
        readonly hosts: readonly string[];
        readonly token: string | undefined;
      }
    | undefined;
  /** The only source of our own URLs; as configured, without a trailing slash. */
  readonly publicUrl: string;
  readonly insecure: boolean;
  /** Undefined: nobody signs in, everyone is anonymous. */
  readonly auth: AuthConfig | undefined;
  /** Undefined: with sign-in nothing is granted, without it everything. */
  readonly access: AccessConfig | undefined;
  /** Undefined: no server is told who calls. */
  readonly identity?: IdentityConfig | undefined;
  readonly limits: readonly LimitConfig[];
  /** Undefined: what replicas would share is kept in process. */
  readonly redis: RedisConfig | undefined;
  /** Undefined: this is the only replica. Never without `redis`. */
  readonly replica: ReplicaConfig | undefined;
  /** Undefined: no record is kept. */
  readonly audit: AuditConfig | undefined;
  readonly trustedProxies: readonly string[];
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
  readonly bodyLimitBytes: number;
  readonly maxBufferedBytes: number;
  readonly sessions: {
    readonly idleTimeoutMs: number;
    readonly maxAgeMs: number;
    readonly max: number;
    readonly maxPerPrincipal: number;
    readonly replay: { readonly bytes: number; readonly forMs: number };
  };
  /** Event streams that belong to no call. */
  readonly streams: { readonly maxPerPrincipal: number };
  /** Child processes of all servers together, in this replica. */
  readonly processes: { readonly max: number; readonly maxPerPrincipal: number };
  readonly parked: { readonly timeoutMs: number; readonly max: number; readonly maxPerPrincipal: number };
  /** auto: with one server, names and URIs on `/mcp` are that server's own. */
  readonly names: 'auto' | 'prefixed';
  /** Undefined: tools are what servers say that they are. */
  readonly pins: PinsConfig | undefined;
  readonly lists: { readonly timeoutMs: number; readonly staleForMs: number; readonly ttlMs: number };
  /** Targets by the name of their set, whose view is /mcp/~NAME. */
  readonly toolsets: Readonly<Record<string, readonly string[]>>;
  readonly outbound: {
    readonly proxy: string | undefined;
    /** Hosts that are reached without the proxy, besides loopback ones. */
    readonly noProxy: readonly string[];
    /** PEM text of extra certificate authorities. */
    readonly ca: string | undefined;
  };
  readonly drain: { readonly delayMs: number; readonly graceMs: number };
  readonly log: { readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' };
}
