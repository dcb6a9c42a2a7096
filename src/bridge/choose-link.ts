// Which link carries a call: one for everyone, one for the principal, or the session's own (DESIGN 5).
import { isList } from '../protocol/methods.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import type { ServerMessage } from '../servers/transport.ts';
import type { CallingClient } from './calling-client.ts';
import { declaredCapabilities, normalCapabilities } from './client-features.ts';
import type { LegacySession } from './legacy-session.ts';

export interface LinkChooser {
  /** A message of a session's own link that its wire ties to no call. */
  onSessionMessage(session: LegacySession, message: ServerMessage, link: ServerLink): void;
  /** The same of a principal's link. */
  onPrincipalMessage(message: ServerMessage, link: ServerLink): void;
}

/**
 * Opens the link where it is not open yet.
 *
 * @throws GatewayError server-unavailable, no-capacity
 */
export async function chooseLink(
  server: Server,
  client: CallingClient,
  method: string,
  { onSessionMessage, onPrincipalMessage }: LinkChooser,
): Promise<ServerLink> {
  const { session } = client;
  const own = session && server.peekOwnLink(sessionLinkKey(session));
  if (own !== undefined) return own;
  const catalogue = await server.catalogueLink();
  // Its session may have ended meanwhile, and with it whoever would close a link that is opened now.
  session?.ended.signal.throwIfAborted();
  const isolation = server.isolationFor(catalogue.peer);
  if (isolation === 'shared') return catalogue;
  const declared = declaredCapabilities(client.capabilities, server.config.client, { fixedRoots: true });
  const normal = normalCapabilities(declared);
  if (isList(method)) return catalogue.peer.era === 'legacy' ? server.catalogueLink(normal) : catalogue;
  if (client.era === 'modern') {
    // The capabilities of a legacy handshake are fixed, a modern client's come with each request.
    return server.ownLink({
      key: `principal ${client.principal} ${JSON.stringify(normal)}`,
      pinned: false,
      clientCapabilities: normal,
      onUnsolicited: onPrincipalMessage,
    });
  }
  if (isolation === 'principal' || session === undefined) {
    // Several sessions may be behind one principal, and a question of their link would name none of them.
    const key = `principal ${client.principal} legacy`;
    return server.ownLink({ key, pinned: false, clientCapabilities: {}, onUnsolicited: onPrincipalMessage });
  }
  return server.ownLink({
    key: sessionLinkKey(session),
    pinned: true,
    clientCapabilities: catalogue.peer.era === 'legacy' ? declared : normal,
    offeredVersion: client.version,
    onUnsolicited: (message, link) => onSessionMessage(session, message, link),
  });
}

export function sessionLinkKey(session: LegacySession): string {
  return `session ${session.key}`;
}
