// `resources/subscribe` and `resources/unsubscribe` of a legacy client, whose server is a modern one.
import { GatewayError } from '../../errors.ts';
import type { CarriedCall } from '../carried-call.ts';
import { sessionLinkKey } from '../choose-link.ts';
import { resourceNotFound } from '../server-errors.ts';

/** Answers once the server has acknowledged the URI; one that it does not name is not there. */
export async function carrySubscription(carried: CarriedCall): Promise<'ok' | 'error'> {
  const { client, link, request, server, signal, output } = carried.call;
  const { session } = client;
  const uri = request.params?.uri;
  if (session === undefined) throw new GatewayError('session-missing');
  if (typeof uri !== 'string') throw new GatewayError('params-invalid', { text: 'uri must be a string' });
  const subscriptions = session.subscriptionsOf(server.slug);
  subscriptions.bind({
    server,
    // The one at hand may be gone by the time that its stream has to be opened again.
    async findLink(at) {
      if (at === server && link.open) return link;
      const isShared = at.isolationFor(link.peer) === 'shared';
      return isShared ? at.catalogueLink() : at.peekOwnLink(sessionLinkKey(session));
    },
    ended: session.ended.signal,
    info: client.info,
    deliver: (message) => session.deliver(server.slug, message),
  });
  const agreed =
    request.method === 'resources/subscribe'
      ? await subscriptions.add(uri, signal)
      : await subscriptions.remove(uri, signal);
  if (!agreed) {
    output.respond(request.idText, { error: resourceNotFound('legacy', uri) }, 200);
    return 'error';
  }
  output.respond(request.idText, { result: {} }, 200);
  return 'ok';
}
