// What one caller may do at one server in the view of a toolset: what the set names, as far as the caller may use it.
// A set grants nothing; what it leaves out does not exist in its view.
import type { AccessDescription, CallFacts, Decision, NamedThing, ServerAccess } from './server-access.ts';
import {
  type AccessTarget,
  parseTargetPattern,
  readTarget,
  readTemplate,
  type TargetKind,
  TargetPattern,
} from './target-pattern.ts';

export class Toolset {
  readonly name: string;
  readonly #targets: readonly TargetPattern[];
  /** The same object for the same two, as access rules have it. */
  readonly #narrowed = new WeakMap<ServerAccess, Map<string, ServerAccess>>();

  /** @throws Error where the config was not checked */
  constructor(name: string, targets: readonly string[]) {
    this.name = name;
    this.#targets = targets.map((text) => {
      const pattern = parseTargetPattern(text);
      if (pattern instanceof TargetPattern) return pattern;
      throw new Error(`${text} is no target: ${pattern.message}`);
    });
  }

  /** Whether the set names anything of that server. */
  concerns(server: string): boolean {
    return this.#targets.some((pattern) => pattern.concerns(server));
  }

  narrow(access: ServerAccess, server: string): ServerAccess {
    const byServer = this.#narrowed.get(access) ?? new Map<string, ServerAccess>();
    this.#narrowed.set(access, byServer);
    const known = byServer.get(server);
    if (known !== undefined) return known;
    const targets = this.#targets.filter((pattern) => pattern.concerns(server));
    const narrowed = new ToolsetAccess(this.name, targets, access);
    byServer.set(server, narrowed);
    return narrowed;
  }
}

class ToolsetAccess implements ServerAccess {
  readonly enforced = true;
  readonly whole: boolean;
  readonly rights: string;
  readonly heldScopes: readonly string[];
  readonly #access: ServerAccess;
  readonly #targets: readonly TargetPattern[];

  constructor(name: string, targets: readonly TargetPattern[], access: ServerAccess) {
    this.#access = access;
    this.#targets = targets;
    this.whole = access.whole && targets.some(({ kind }) => kind === undefined);
    this.rights = JSON.stringify([name, targets.map(({ text }) => text), access.rights]);
    this.heldScopes = access.heldScopes;
  }

  sees(kind?: TargetKind): boolean {
    const named = (each: TargetPattern) =>
      kind === undefined || each.kind === undefined || each.kind === kind;
    return this.#targets.some(named) && this.#access.sees(kind);
  }

  decide(kind: TargetKind, name: string, call?: CallFacts): Decision {
    const target = readTarget(kind, name);
    if (target === undefined || !this.#names(target)) return { verdict: 'absent' };
    return this.#access.decide(kind, name, call);
  }

  listsTemplate(template: string): boolean {
    const target = readTemplate(template);
    const isNamed =
      target !== undefined && this.#ofKind('resources').some((pattern) => pattern.couldGrant(target));
    return isNamed && this.#access.listsTemplate(template);
  }

  describe(about?: NamedThing): AccessDescription {
    return this.#access.describe(about);
  }

  #names(target: AccessTarget): boolean {
    return this.#ofKind(target.kind).some((pattern) => pattern.grants(target));
  }

  #ofKind(kind: TargetKind): readonly TargetPattern[] {
    return this.#targets.filter((pattern) => pattern.kind === undefined || pattern.kind === kind);
  }
}
