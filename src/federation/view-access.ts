// What a caller may do on a view of several servers, in the view's words: each thing is judged at the server that it
// belongs to.
import type { Decision, NamedThing, ServerAccess } from '../access/rules/server-access.ts';
import type { TargetKind } from '../access/rules/target-pattern.ts';
import { isEverywhere, ownUri } from './public-uris.ts';

export class ViewAccess implements ServerAccess {
  readonly enforced: boolean;
  /** Of every server that the view could ever speak of; where one is left out, what is said is judged one by one. */
  readonly whole: boolean;
  readonly heldScopes: readonly string[];
  readonly #members: ReadonlyMap<string, ServerAccess>;
  #rights: string | undefined;

  /** @param members by slug, of the servers that the caller may use; @param isAll whether no server is left out */
  constructor(members: ReadonlyMap<string, ServerAccess>, isAll: boolean) {
    const all = [...members.values()];
    this.#members = members;
    this.enforced = all.some(({ enforced }) => enforced);
    this.whole = isAll && all.every(({ whole }) => whole);
    this.heldScopes = [...new Set(all.flatMap(({ heldScopes }) => heldScopes))];
  }

  get rights(): string {
    this.#rights ??= JSON.stringify([...this.#members].map(([server, { rights }]) => [server, rights]));
    return this.#rights;
  }

  /** At one server; undefined where nothing of it is for the caller. */
  at(server: string): ServerAccess | undefined {
    return this.#members.get(server);
  }

  sees(kind?: TargetKind): boolean {
    return [...this.#members.values()].some((access) => access.sees(kind));
  }

  /** Names of tools and prompts lead back by tables alone, so only resources can be judged here. */
  decide(kind: TargetKind, name: string, call?: Parameters<ServerAccess['decide']>[2]): Decision {
    if (kind !== 'resources') return { verdict: 'absent' };
    const own = ownUri(name, (server) => this.#members.has(server));
    if (own !== undefined) return this.#members.get(own.server)?.decide(kind, own.uri, call) ?? ABSENT;
    // What names a server that is none of these is not theirs to judge.
    if (!isEverywhere(name)) return ABSENT;
    const decisions = [...this.#members.values()].map((access) => access.decide(kind, name, call));
    return decisions.find(({ verdict }) => verdict === 'allowed') ?? ABSENT;
  }

  listsTemplate(template: string): boolean {
    const own = ownUri(template, (server) => this.#members.has(server));
    if (own !== undefined) return this.#members.get(own.server)?.listsTemplate(own.uri) ?? false;
    if (!isEverywhere(template)) return false;
    return [...this.#members.values()].some((access) => access.listsTemplate(template));
  }

  describe(about?: NamedThing): ReturnType<ServerAccess['describe']> {
    const described = [...this.#members.values()].map((access) => access.describe(about));
    return {
      allows: described.flatMap(({ allows }) => allows),
      denies: described.flatMap(({ denies }) => denies),
      missing: described.flatMap(({ missing }) => missing),
    };
  }
}

/** What a caller of a view may do at one of its servers. */
export function accessAt(access: ServerAccess, server: string): ServerAccess | undefined {
  return access instanceof ViewAccess ? access.at(server) : access;
}

const ABSENT: Decision = { verdict: 'absent' };
