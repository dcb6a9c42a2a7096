// Which link carries a call: one for everyone, one for the principal, or the session's own (DESIGN 5).
import { isList } from '../protocol/methods.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import type { CallingClient } from './calling-client.ts';
import { declaredCapabilities } from './client-features.ts';
import type { LegacySession } from './legacy-session.ts';

export type OnSessionMessage = (session: LegacySession, message: ServerMessage, link: ServerLink) => void;

/**
 * Opens the link where it is not open yet.
 *
 * @throws GatewayError server-unavailable, no-capacity
 */
export async function chooseLink(
  server: Server,
  client: CallingClient,
  method: string,
  onSessionMessage: OnSessionMessage,
): Promise<ServerLink> {
  const { session } = client;
  const own = session && server.peekOwnLink(sessionLinkKey(session));
  if (own !== undefined) return own;
  const catalogue = await server.catalogueLink();
  const isolation = server.isolationFor(catalogue.peer);
  if (isolation === 'shared' || isList(method)) return catalogue;
  if (isolation === 'principal' || session === undefined) {
    // Several clients may be behind one principal, so no client feature is declared on their link.
    return server.ownLink({ key: `principal ${client.principal}`, pinned: false, clientCapabilities: {} });
  }
  return server.ownLink({
    key: sessionLinkKey(session),
    pinned: true,
    clientCapabilities: declaredCapabilities(client.capabilities, server.config.client, { fixedRoots: true }),
    offeredVersion: client.version,
    onUnsolicited: (message, link) => onSessionMessage(session, message, link),
  });
}

export function sessionLinkKey(session: LegacySession): string {
  return `session ${session.key}`;
}
