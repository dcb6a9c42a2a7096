// What a client addresses: one server under its own names, or several as one, under public names.
import type { Principal } from '../access/principal.ts';
import type { ServerAccess } from '../access/rules/server-access.ts';
import type { Toolset } from '../access/rules/toolset-access.ts';
import { GatewayError } from '../errors.ts';
import { PrefixTable } from '../federation/prefix-table.ts';
import { ViewAccess } from '../federation/view-access.ts';
import type { Server } from '../servers/server.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';

/** One server of a view, as far as its caller may use it. */
export interface ViewMember {
  readonly server: Server;
  readonly access: ServerAccess;
}

export interface View {
  /** What the caller may use of it, in the config's order; at least one. */
  readonly members: readonly [ViewMember, ...ViewMember[]];
  /** Set where names and URIs are those of the view's one server; else they are public ones. */
  readonly sole: ViewMember | undefined;
  /** What the caller may do, in the view's words. */
  readonly access: ServerAccess;
  /** Of the members with such things for the caller; undefined where names are a server's own. */
  readonly named: Readonly<Record<NamedKind, PrefixTable<ViewMember>>> | undefined;
}

export type NamedKind = 'tools' | 'prompts';

/** Who addresses which view. */
export type Visitor = Pick<Exchange, 'view' | 'principal'>;

type ViewsByName = Map<string | undefined, View>;

/** With a hundred servers, making the view cost as much as the call: one token has one view of one config. */
const VIEWS = new WeakMap<GatewayContext, WeakMap<Principal, ViewsByName>>();

/**
 * The same object for the same caller, as long as neither token nor config is another.
 *
 * @throws GatewayError view-unknown, also where the caller may use nothing of it
 */
export function enterView(gateway: GatewayContext, visitor: Visitor): View {
  const { view: name, principal } = visitor;
  const byPrincipal = VIEWS.get(gateway) ?? new WeakMap<Principal, ViewsByName>();
  VIEWS.set(gateway, byPrincipal);
  const views: ViewsByName = byPrincipal.get(principal) ?? new Map();
  const view = views.get(name) ?? makeView(gateway, visitor);
  // Names that lead nowhere are not kept, so there are no more of them than the config has.
  views.set(name, view);
  byPrincipal.set(principal, views);
  return view;
}

function makeView(gateway: GatewayContext, { view, principal }: Visitor): View {
  const toolset = toolsetOf(gateway, view);
  const servers = toolset === undefined ? serversOf(gateway, view) : serversIn(gateway, toolset);
  const members = servers
    .map((server): ViewMember => {
      const access = gateway.access.accessOf(principal, server.slug);
      return { server, access: toolset?.narrow(access, server.slug) ?? access };
    })
    .filter(({ access }) => access.sees());
  const [first, ...others] = members;
  if (first === undefined) throw new GatewayError('view-unknown', { reason: 'hidden' });
  const keepsNames = isServerView(view) || (gateway.servers.size === 1 && gateway.config.names === 'auto');
  if (keepsNames) return { members: [first], sole: first, access: first.access, named: undefined };
  const accesses = new Map(members.map(({ server, access }) => [server.slug, access]));
  const access = new ViewAccess(accesses, members.length === servers.length);
  const named = { tools: tableOf(members, 'tools'), prompts: tableOf(members, 'prompts') };
  return { members: [first, ...others], sole: undefined, access, named };
}

function tableOf(members: readonly ViewMember[], kind: NamedKind): PrefixTable<ViewMember> {
  const seen = members.filter(({ access }) => access.sees(kind));
  return new PrefixTable(seen.map((member) => [member.server.config.prefix, member]));
}

/** Whether a view is one server by its name, rather than several as one, or some things of some. */
export function isServerView(view: string | undefined): boolean {
  return view !== undefined && !view.startsWith('~');
}

/** Undefined where the view is not that of a toolset. */
function toolsetOf({ toolsets }: GatewayContext, view: string | undefined): Toolset | undefined {
  return view?.startsWith('~') ? toolsets.get(view.slice(1)) : undefined;
}

function serversIn({ servers }: GatewayContext, toolset: Toolset): readonly Server[] {
  return [...servers.values()].filter(({ slug }) => toolset.concerns(slug));
}

/** In the same words whatever the reason. */
function serversOf({ servers }: GatewayContext, view: string | undefined): readonly Server[] {
  if (view === undefined) {
    if (servers.size === 0) throw new GatewayError('view-unknown', { text: 'No server is configured' });
    return [...servers.values()];
  }
  const server = servers.get(view);
  if (server === undefined) throw new GatewayError('view-unknown');
  return [server];
}
