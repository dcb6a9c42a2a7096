// What a session and the servers of its view know of each other, apart from calls.
import type { Server } from '../../servers/server.ts';
import type { ServerMessage } from '../../servers/transport.ts';
import { sessionLinkKey } from '../choose-link.ts';
import type { LegacySession } from './legacy-session.ts';

/** Hears what the one server of its view says to all. Returns the way to stop. */
export function follow(session: LegacySession, server: Server | undefined): () => void {
  if (server === undefined) return () => {};
  const { principal } = session.record;
  return server.onSharedMessage((message) => tellShared(session, server, message), principal);
}

/** Its links may be closed from here on, and another replica goes on in what it has at servers. */
export function leaveUpstream(session: LegacySession): void {
  for (const server of session.servers) server.peekOwnLink(sessionLinkKey(session))?.leaveSession();
}

/** The server keeps something of the session: a link of its own, subscriptions, a call that may begin either. */
export function isKnownTo(server: Server, session: LegacySession): boolean {
  const peer = server.lastPeer;
  const isShared = peer !== undefined && server.isolationFor(peer) === 'shared';
  return (
    server.peekOwnLink(sessionLinkKey(session)) !== undefined ||
    session.subscriptionsOf(server.slug).size > 0 ||
    (session.calling && !isShared)
  );
}

/** A change that is true for everyone; a session with a link of its own hears it from there. */
export function tellShared(session: LegacySession, server: Server, message: ServerMessage): void {
  if ('id' in message || server.peekOwnLink(sessionLinkKey(session)) !== undefined) return;
  if (message.method.endsWith('/list_changed')) session.deliver(server.slug, message);
}
