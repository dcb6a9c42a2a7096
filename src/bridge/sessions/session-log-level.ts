// The log level of a session on a view of several servers: kept here, told to each server on the session's own link, to
// those whose link opens later too. A server that will not hear of it is no reason to fail.
import type { LogLevel } from '../../protocol/log-levels.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerLink } from '../../servers/server-link.ts';
import { sessionLinkKey } from '../choose-link.ts';
import type { LegacySession } from './legacy-session.ts';

const SETTING_TIMEOUT_MS = 5_000;
const LEVELS = new WeakMap<ServerLink, string>();

export async function setLogLevel(
  session: LegacySession,
  level: LogLevel,
  servers: readonly Server[],
): Promise<void> {
  session.logLevel = level;
  await Promise.all(
    servers.map((server) => {
      const link = server.peekOwnLink(sessionLinkKey(session));
      return link && tellLogLevel(session, { server, link });
    }),
  );
}

/** Before a call; does nothing where the server has been told, or is told by the call itself. */
export async function tellLogLevel(
  session: LegacySession,
  { server, link }: { server: Server; link: ServerLink },
): Promise<void> {
  const { logLevel: level } = session;
  const { era, capabilities } = link.peer;
  if (level === undefined || era !== 'legacy' || capabilities.logging === undefined) return;
  // On a link of others nobody sets a level for all.
  if (LEVELS.get(link) === level || link !== server.peekOwnLink(sessionLinkKey(session))) return;
  LEVELS.set(link, level);
  const signal = AbortSignal.timeout(SETTING_TIMEOUT_MS);
  await link.call('logging/setLevel', { level }, { signal }).catch(() => undefined);
}
