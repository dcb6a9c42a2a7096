// One limit of the config: which requests it concerns, and by which counters. Pure.
import { hash } from 'node:crypto';
import type { LimitConfig, LimitKeyPart } from '../../config/limits-config.ts';
import type { Principal } from '../principal.ts';
import { parseTargetPattern, readTarget, type TargetKind, TargetPattern } from '../rules/target-pattern.ts';

/** One HTTP request, as long as it lasts. */
export interface Arrival {
  /** Where it came from: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
  /** It has waited for the store in vain, and is not to wait again. */
  storeFailed: boolean;
}

/** One request of a client, as limits look at it. */
export interface LimitedRequest {
  readonly arrival: Arrival;
  readonly principal: Principal;
  /** Undefined where a request concerns several, as a merged list does. */
  readonly server: string | undefined;
  /** What it names, in the server's own words. */
  readonly target: { readonly kind: TargetKind; readonly name: string } | undefined;
  /** A call makes a server do something; a list asks what there is. */
  readonly cost: 'call' | 'list';
  /** It lasts until somebody ends it, and takes no place among those that run. */
  readonly isEndless: boolean;
}

export class Limit {
  readonly config: LimitConfig;
  readonly #pattern: TargetPattern;
  /** Whether its counters depend on nothing but who calls; then they are made once for each. */
  readonly #isByCaller: boolean;
  readonly #ofCallers = new WeakMap<Principal, readonly string[]>();

  /** @throws Error where the config was not checked */
  constructor(config: LimitConfig) {
    const pattern = parseTargetPattern(config.match);
    if (!(pattern instanceof TargetPattern))
      throw new Error(`${config.match} is no target: ${pattern.message}`);
    this.config = config;
    this.#pattern = pattern;
    this.#isByCaller = config.key.every((part) => OF_CALLERS.has(part));
  }

  /** Holds at the edge already, for every HTTP request: its counter is known before anything is read. */
  get isGuard(): boolean {
    const { key, match, cost, max } = this.config;
    return max !== undefined && key.length === 1 && key[0] === 'ip' && match === '*' && cost === undefined;
  }

  costOf({ cost }: LimitedRequest): number {
    return this.config.cost?.[cost] ?? 1;
  }

  /** One a group, if groups are counted apart; none where the limit has nothing to do with the request. */
  countersOf(request: LimitedRequest): readonly string[] {
    if (!this.#concerns(request)) return [];
    if (!this.#isByCaller) return this.#madeOf(request);
    const known = this.#ofCallers.get(request.principal);
    if (known !== undefined) return known;
    const counters = this.#madeOf(request);
    this.#ofCallers.set(request.principal, counters);
    return counters;
  }

  #madeOf(request: LimitedRequest): readonly string[] {
    const { key } = this.config;
    const parts = key.map((part) => VALUES[part](request));
    if (parts.includes(undefined)) return [];
    if (!key.includes('group')) return [this.#counter(parts)];
    const { groups } = request.principal;
    // Who is in no group shares with all others who are in none, rather than be limited by nothing.
    return [...new Set(groups.length === 0 ? [''] : groups)].map((group) =>
      this.#counter(key.map((part, index) => (part === 'group' ? group : parts[index]))),
    );
  }

  /** The counter of an address, for a guard. */
  counterOfAddress(address: string): string {
    return this.#counter([address]);
  }

  #concerns({ server, target }: LimitedRequest): boolean {
    const pattern = this.#pattern;
    if (pattern.server === undefined) return true;
    if (server === undefined || !pattern.concerns(server, target?.kind)) return false;
    if (pattern.kind === undefined) return true;
    const named = target && readTarget(target.kind, target.name);
    // As refusals do: a URI that can be read in two ways counts by either.
    return named !== undefined && pattern.refuses(named);
  }

  /** Hashed: a name of any length is a short key, and Redis learns nothing of who it is. */
  #counter(parts: readonly unknown[]): string {
    const { name, windowMs } = this.config;
    const digest = hash('sha256', JSON.stringify(parts), 'base64url');
    // A window of another length is another counter, or a change of config would take effect only when the old one ends.
    return `limit:${name}:${windowMs}:${digest}`;
  }
}

const OF_CALLERS: ReadonlySet<LimitKeyPart> = new Set(['principal', 'client', 'group']);

/** Undefined where the request has no such thing, and a limit by it does not concern it. */
const VALUES: Readonly<Record<LimitKeyPart, (request: LimitedRequest) => unknown>> = {
  ip: ({ arrival }) => arrival.address,
  principal: ({ principal: { issuer, subject } }) => [issuer, subject],
  client: ({ principal: { issuer, clientId } }) => [issuer, clientId],
  group: () => '',
  server: ({ server }) => server,
  tool: ({ server, target }) => (target?.kind === 'tools' ? [server, target.name] : undefined),
};
