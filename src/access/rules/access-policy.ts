// Who may do what, for every caller: `gateway.access` compiled once. Where nobody signs in, everybody may do
// everything; where people do, nothing but what a rule grants.
import { createHash } from 'node:crypto';
import { type AccessConfig, NO_ACCESS } from '../../config/access-config.ts';
import type { JsonObject } from '../../protocol/json-text.ts';
import type { Principal } from '../principal.ts';
import { withImpliedScopes } from '../scopes.ts';
import { type Caller, type Rights, RuledAccess } from './ruled-access.ts';
import { compileRule, compileStepUps, concerns, type Rule, type StepUp } from './rules.ts';
import { OPEN_ACCESS, type ServerAccess } from './server-access.ts';

export interface AccessPolicyOptions {
  /** Whether anybody signs in. */
  readonly hasAuth: boolean;
  readonly access: AccessConfig | undefined;
  /** Annotations of a tool as the operator has them, for conditions; none without this. */
  annotationsOf?(server: string, tool: string): JsonObject;
}

export interface AccessPolicy {
  /** What a caller may do at a server. The same object for the same two, so it may be asked often. */
  accessOf(principal: Principal, server: string): ServerAccess;
  /** The rules that concern a caller, by their names. */
  rulesFor(principal: Principal): readonly string[];
}

/** @throws Error where the config was not checked */
export function createAccessPolicy(options: AccessPolicyOptions): AccessPolicy {
  const { hasAuth, access = NO_ACCESS, annotationsOf = () => ({}) } = options;
  return hasAuth
    ? new RuledPolicy(access, annotationsOf)
    : { accessOf: () => OPEN_ACCESS, rulesFor: () => [] };
}

const MAX_RIGHTS = 1_000;

type AnnotationsOf = NonNullable<AccessPolicyOptions['annotationsOf']>;

interface KnownCaller {
  readonly caller: Caller;
  readonly servers: Map<string, ServerAccess>;
}

class RuledPolicy implements AccessPolicy {
  readonly #access: AccessConfig;
  readonly #rules: readonly Rule[];
  readonly #stepUps: readonly StepUp[];
  readonly #annotationsOf: AnnotationsOf;
  readonly #digest: string;
  /** Scopes that mean something here. */
  readonly #known: ReadonlySet<string>;
  /** By their rules' places and their scopes: many callers have the same. */
  readonly #rights = new Map<string, Rights>();
  /** One principal object is one verified token, so it is a caller as long as the token is remembered. */
  readonly #callers = new WeakMap<Principal, KnownCaller>();

  constructor(access: AccessConfig, annotationsOf: AnnotationsOf) {
    this.#access = access;
    this.#annotationsOf = annotationsOf;
    this.#rules = access.rules.map(compileRule);
    this.#stepUps = compileStepUps(access.scopes);
    this.#digest = createHash('sha256').update(JSON.stringify(access)).digest('base64url');
    this.#known = new Set([
      ...access.rules.flatMap(({ when }) => when.scopes),
      ...Object.values(access.scopes).flat(),
      ...Object.entries(access.scopeImplies).flatMap(([scope, implied]) => [scope, ...implied]),
    ]);
  }

  accessOf(principal: Principal, server: string): ServerAccess {
    const { caller, servers } = this.#knownAs(principal);
    const access =
      servers.get(server) ?? new RuledAccess(server, caller, (tool) => this.#annotationsOf(server, tool));
    servers.set(server, access);
    return access;
  }

  rulesFor(principal: Principal): readonly string[] {
    return this.#knownAs(principal).caller.rights.rules.map(({ name }) => name);
  }

  #knownAs(principal: Principal): KnownCaller {
    const known = this.#callers.get(principal) ?? { caller: this.#callerOf(principal), servers: new Map() };
    this.#callers.set(principal, known);
    return known;
  }

  #callerOf(principal: Principal): Caller {
    return {
      principal,
      rights: this.#rightsOf(principal),
      heldScopes: principal.scopes.filter((scope) => this.#known.has(scope)),
    };
  }

  #rightsOf(principal: Principal): Rights {
    const scopes = withImpliedScopes(principal.scopes, this.#access.scopeImplies);
    const rules = this.#rules.filter((rule) => concerns(rule, principal, scopes));
    const sorted = [...scopes].sort();
    const key = JSON.stringify([rules.map((rule) => this.#rules.indexOf(rule)), sorted]);
    const known = this.#rights.get(key);
    if (known !== undefined) return known;
    const name = JSON.stringify([this.#digest, rules.map(({ name }) => name), sorted]);
    const rights: Rights = { name, scopes, rules, stepUps: this.#stepUps, clauses: new Map() };
    // An issuer may give each token scopes of its own; who has rights keeps them.
    if (this.#rights.size >= MAX_RIGHTS) this.#rights.clear();
    this.#rights.set(key, rights);
    return rights;
  }
}
