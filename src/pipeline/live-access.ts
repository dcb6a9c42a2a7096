// The rights of one caller on one view as they are whenever they are asked for: for what stays open while the config
// changes. A call keeps the rights that it began with.
import {
  type AccessDescription,
  type CallFacts,
  type Decision,
  type NamedThing,
  NO_ACCESS_AT_ALL,
  type ServerAccess,
} from '../access/rules/server-access.ts';
import type { TargetKind } from '../access/rules/target-pattern.ts';
import { GatewayError } from '../errors.ts';
import type { GatewayContext } from './gateway-context.ts';
import { enterView, type View, type Visitor } from './view.ts';

type Current = GatewayContext['current'];

/** The view as the config of the moment has it. */
class LiveView {
  readonly #current: Current;
  readonly #view: string | undefined;
  readonly #principal: Visitor['principal'];
  #asked: GatewayContext | undefined;
  #found: View | undefined;

  constructor(current: Current, { view, principal }: Visitor) {
    this.#current = current;
    this.#view = view;
    this.#principal = principal;
  }

  /** Undefined while it is none for this caller. */
  now(): View | undefined {
    const gateway = this.#current();
    if (gateway !== this.#asked) {
      this.#asked = gateway;
      this.#found = viewIn(gateway, { view: this.#view, principal: this.#principal });
    }
    return this.#found;
  }
}

/** What the caller may do at one server of the view; undefined where it is none of theirs. */
export function liveMember(current: Current, visitor: Visitor): (server: string) => ServerAccess | undefined {
  const view = new LiveView(current, visitor);
  return (slug) => view.now()?.members.find(({ server }) => server.slug === slug)?.access;
}

/** The servers of a view of several, by slug, as far as the caller may use them by then. */
export function liveServers(
  { current }: Pick<GatewayContext, 'current'>,
  visitor: Visitor,
): Pick<ReadonlySet<string>, 'has'> {
  const memberNow = liveMember(current, visitor);
  return { has: (server) => memberNow(server) !== undefined };
}

export function liveAccess({ current }: Pick<GatewayContext, 'current'>, visitor: Visitor): ServerAccess {
  return new LiveAccess(current, visitor);
}

class LiveAccess extends LiveView implements ServerAccess {
  get enforced(): boolean {
    return this.#access().enforced;
  }

  get whole(): boolean {
    return this.#access().whole;
  }

  get rights(): string {
    return this.#access().rights;
  }

  get heldScopes(): readonly string[] {
    return this.#access().heldScopes;
  }

  sees(kind?: TargetKind): boolean {
    return this.#access().sees(kind);
  }

  decide(kind: TargetKind, name: string, call?: CallFacts): Decision {
    return this.#access().decide(kind, name, call);
  }

  listsTemplate(template: string): boolean {
    return this.#access().listsTemplate(template);
  }

  describe(about?: NamedThing): AccessDescription {
    return this.#access().describe(about);
  }

  #access(): ServerAccess {
    return this.now()?.access ?? NO_ACCESS_AT_ALL;
  }
}

function viewIn(gateway: GatewayContext, visitor: Visitor): View | undefined {
  try {
    return enterView(gateway, visitor);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'view-unknown') return undefined;
    throw thrown;
  }
}
