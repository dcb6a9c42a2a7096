// `resources/subscribe` and `resources/unsubscribe` of a legacy client, whose server is a modern one.
import { GatewayError } from '../../errors.ts';
import type { Caller } from '../../servers/credentials/caller.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import type { CarriedCall } from '../carried-call.ts';
import { carriesCalls, sessionLinkKey } from '../choose-link.ts';
import { resourceNotFound } from '../server-errors.ts';
import type { LegacySession } from './legacy-session.ts';
import type { SessionSubscriptions } from './session-subscriptions.ts';

/** Answers once the server has acknowledged the URI; one that it does not name is not there. */
export async function carrySubscription(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { client, link, request, server, signal, output } = carried.call;
  const { session } = client;
  const uri = request.params?.uri;
  if (session === undefined) throw new GatewayError('session-missing');
  if (typeof uri !== 'string') throw new GatewayError('params-invalid', { text: 'uri must be a string' });
  const subscriptions = bindSubscriptions(session, server, { link });
  const agreed =
    request.method === 'resources/subscribe'
      ? await subscriptions.add(uri, signal)
      : await subscriptions.remove(uri, signal);
  session.noteSubscriptions();
  if (!agreed) {
    output.respond(request.idText, { error: resourceNotFound('legacy', uri) }, 200);
    return 'error';
  }
  output.respond(request.idText, { result: {} }, 200);
  return 'ok';
}

/** An adopted session goes on with what it was subscribed to elsewhere. */
export function restoreSubscriptions(
  session: LegacySession,
  servers: ReadonlyMap<string, Server>,
  caller: Caller,
): void {
  for (const [slug, uris] of Object.entries(session.kept.state.subscriptions)) {
    const server = servers.get(slug);
    if (server !== undefined) bindSubscriptions(session, server, { caller }).restore(uris);
  }
}

/** They are listened to where the session's calls to that server go. */
function bindSubscriptions(
  session: LegacySession,
  server: Server,
  { link, caller }: { readonly link?: ServerLink; readonly caller?: Caller },
): SessionSubscriptions {
  const subscriptions = session.subscriptionsOf(server.slug);
  // Who leads to a token is kept for no longer than the first time.
  let asker = caller;
  subscriptions.bind({
    server,
    async findLink(at) {
      // It may be gone by the time that its stream has to be opened again.
      if (at === server && link?.open) return link;
      const own = at.peekOwnLink(sessionLinkKey(session));
      if (own !== undefined) return own;
      const catalogue = await at.catalogueLink(asker);
      asker = undefined;
      return carriesCalls(at, catalogue) ? catalogue : undefined;
    },
    ended: session.ended,
    info: session.record.clientInfo,
    deliver: (message) => session.deliver(server.slug, message),
  });
  return subscriptions;
}
