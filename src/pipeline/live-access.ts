// The rights of one caller on one view as they are whenever they are asked for: for what stays open while the config
// changes. A call keeps the rights that it began with.
import { NO_ACCESS_AT_ALL, type ServerAccess } from '../access/rules/server-access.ts';
import { GatewayError } from '../errors.ts';
import type { GatewayContext } from './gateway-context.ts';
import { enterView, type View, type Visitor } from './view.ts';

type Current = GatewayContext['current'];

/** The view as the config of the moment has it; undefined while it is none for this caller. */
export function liveView(current: Current, { view: name, principal }: Visitor): () => View | undefined {
  let asked: GatewayContext | undefined;
  let view: View | undefined;
  return () => {
    const gateway = current();
    if (gateway !== asked) {
      asked = gateway;
      view = viewIn(gateway, { view: name, principal });
    }
    return view;
  };
}

/** What the caller may do at one server of the view; undefined where it is none of theirs. */
export function liveMember(current: Current, visitor: Visitor): (server: string) => ServerAccess | undefined {
  const view = liveView(current, visitor);
  return (slug) => view()?.members.find(({ server }) => server.slug === slug)?.access;
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
  const view = liveView(current, visitor);
  const now = () => view()?.access ?? NO_ACCESS_AT_ALL;
  return {
    get enforced() {
      return now().enforced;
    },
    get whole() {
      return now().whole;
    },
    get rights() {
      return now().rights;
    },
    get heldScopes() {
      return now().heldScopes;
    },
    sees: (kind) => now().sees(kind),
    decide: (...asking) => now().decide(...asking),
    listsTemplate: (template) => now().listsTemplate(template),
    describe: (about) => now().describe(about),
  };
}

function viewIn(gateway: GatewayContext, visitor: Visitor): View | undefined {
  try {
    return enterView(gateway, visitor);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'view-unknown') return undefined;
    throw thrown;
  }
}
