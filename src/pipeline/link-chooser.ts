// Who hears what servers say on links that are one caller's own, outside any call.
import type { LinkChooser } from '../bridge/choose-link.ts';
import { relayToSession } from '../bridge/sessions/session-messages.ts';
import { answerFixedRoots } from '../servers/fixed-roots.ts';
import type { Server } from '../servers/server.ts';
import type { GatewayContext } from './gateway-context.ts';

export function linkChooser(
  { catalogue, bridge, sessions, news }: GatewayContext,
  server: Server,
): LinkChooser {
  return {
    onSessionMessage(session, message, link) {
      if (!('id' in message)) catalogue.noteListChanged(link, message.method);
      if (link.peer.era === 'modern') return bridge.lanes.receive(message, link);
      relayToSession(session, message, { link, server: server.config, stream: undefined });
    },
    endSession: (session) => void sessions.end(session, 'gave_way'),
    onPrincipalMessage(message, link, { owner, principal }) {
      if (answerFixedRoots(message, link, server.config)) return;
      bridge.lanes.receive(message, link);
      bridge.hubs.receive(message, link, owner);
      news?.publish({ server: server.slug, method: message.method, person: principal });
    },
  };
}
