// A legacy session that lives on another replica: its requests are handed over, and where that replica is gone the
// session is taken up here, if nothing of it died there.
import { principalKey } from '../access/principal.ts';
import type { LegacySession } from '../bridge/sessions/legacy-session.ts';
import type { LocatedSession } from '../bridge/sessions/legacy-sessions.ts';
import { GatewayError } from '../errors.ts';
import { headerValue } from '../protocol/client-message.ts';
import { SESSION_HEADER } from '../protocol/request-headers.ts';
import { eitherOf } from '../runtime/stop.ts';
import type { StoredSession } from '../state/session-store.ts';
import type { Exchange } from './exchange.ts';
import { type Forward, type RepeatedReply, tryForward } from './forward-exchange.ts';
import type { GatewayContext } from './gateway-context.ts';
import { linkChooser } from './link-chooser.ts';
import { liveServers } from './live-access.ts';
import type { ViewMember } from './view.ts';

/** Where a session is, as one request of its client meets it. */
export type MetSession =
  | { readonly session: LegacySession; readonly elsewhere?: undefined }
  | { readonly session?: undefined; readonly elsewhere: SessionElsewhere };

export interface SessionElsewhere {
  /** The id of the replica, which is live as far as is known. */
  readonly owner: string;
  readonly stored: StoredSession;
}

/** The replica that was asked does not have it. */
const NOT_HERE = 'session_moved';
/** One that moves while it is looked for is looked for again, but not for ever. */
const MAX_MOVES = 3;

/**
 * The session of an id, wherever it lives. One that nobody has any more is taken up here.
 *
 * @throws GatewayError session-unknown, store-unavailable
 */
export async function meetSession(
  gateway: GatewayContext,
  exchange: Exchange,
  { id, sole }: { id: string; sole: ViewMember | undefined },
): Promise<MetSession> {
  const located = await locateSession(gateway, exchange, id);
  return meet(gateway, exchange, { located, sole });
}

/**
 * Where the session of an id lives, as it is on record.
 *
 * @throws GatewayError session-unknown, store-unavailable
 */
export async function locateSession(
  { sessions }: GatewayContext,
  exchange: Exchange,
  id: string,
): Promise<LocatedSession> {
  const located = await sessions.locate(id, principalKey(exchange.principal), exchange.view);
  if (located === undefined) {
    const reason = sessions.endOf(id);
    throw new GatewayError('session-unknown', reason === undefined ? {} : { reason });
  }
  if (located.at === 'elsewhere' && exchange.forwarded !== undefined) {
    throw new GatewayError('session-unknown', { reason: NOT_HERE });
  }
  return located;
}

/**
 * Hands an exchange to the replica that its session lives on; should that one be gone by now, takes the session up.
 *
 * @returns undefined where it has been answered; else the session, which lives here now and has not heard of it
 * @throws GatewayError as the other replica failed; session-unknown where the session died with it
 */
export async function forwardToSession(
  gateway: GatewayContext,
  exchange: Exchange,
  { elsewhere, sole, ...forward }: ForwardToSession,
): Promise<LegacySession | undefined> {
  const id = headerValue(exchange.headers, SESSION_HEADER) ?? '';
  let { owner } = elsewhere;
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    if (await isAnswered(gateway, exchange, { ...forward, to: owner })) return undefined;
    const located = await locateSession(gateway, exchange, id);
    const met = await meet(gateway, exchange, { located, sole, lost: owner });
    if (met.session !== undefined) return met.session;
    owner = met.elsewhere.owner;
  }
  throw new GatewayError('session-unknown', { reason: NOT_HERE });
}

/**
 * Opens the stream of a session at the replica that it lives on. It goes on by itself.
 *
 * @returns undefined where it is open; else the session, which lives here now and has no stream yet
 * @throws GatewayError as the other replica failed
 */
export async function openElsewhere(
  gateway: GatewayContext,
  exchange: Exchange,
  to: Pick<ForwardToSession, 'elsewhere' | 'sole'>,
): Promise<LegacySession | undefined> {
  const { reply, clientGone, signedOut } = exchange;
  const opened = Promise.withResolvers<undefined>();
  const repeated: RepeatedReply = {
    setHeader: (...header) => reply.setHeader(...header),
    openStream(primingEventId) {
      reply.openStream(primingEventId);
      opened.resolve(undefined);
    },
    send: (...event) => reply.send(...event),
    respond: (...response) => reply.respond(...response),
    accept: (status) => reply.accept(status),
    end: () => reply.end(),
  };
  const signal = eitherOf(clientGone, signedOut);
  const over = forwardToSession(gateway, exchange, { ...to, kind: 'permitted', signal, reply: repeated });
  // Whatever ends it, its client opens it again.
  over.catch(() => {
    if (reply.committed) reply.end();
  });
  return Promise.race([opened.promise, over]);
}

/**
 * Ends a session that does not live here, wherever it is taken up meanwhile.
 *
 * @returns whether the exchange has been answered
 * @throws GatewayError as the other replica failed; session-unknown, store-unavailable
 */
export async function endElsewhere(
  gateway: GatewayContext,
  exchange: Exchange,
  { id, ...first }: Extract<LocatedSession, { at: 'elsewhere' }> & { id: string },
): Promise<boolean> {
  let { owner, stored } = first;
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const isLive = owner !== undefined && (await gateway.replicas?.lookFor(owner)) !== undefined;
    if (
      isLive &&
      owner !== undefined &&
      (await isAnswered(gateway, exchange, { to: owner, kind: 'permitted' }))
    )
      return true;
    if (await gateway.sessions.forget(stored)) return false;
    const located = await locateSession(gateway, exchange, id);
    if (located.at === 'here') {
      await gateway.sessions.end(located.session, 'deleted');
      return false;
    }
    ({ owner, stored } = located);
  }
  throw new GatewayError('session-unknown', { reason: NOT_HERE });
}

interface ForwardToSession extends Omit<Forward, 'to'> {
  readonly elsewhere: SessionElsewhere;
  /** The one server of the view, if it is one server's. */
  readonly sole: ViewMember | undefined;
}

/** False where the session turned out to be elsewhere, or nobody could be asked. */
async function isAnswered(gateway: GatewayContext, exchange: Exchange, forward: Forward): Promise<boolean> {
  try {
    return await tryForward(gateway, exchange, { ...forward, onlyThere: true });
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.details.reason === NOT_HERE) return false;
    throw thrown;
  }
}

/** @param lost the replica that does not have it, whatever the record says */
async function meet(
  gateway: GatewayContext,
  exchange: Exchange,
  { located, sole, lost }: { located: LocatedSession; sole: ViewMember | undefined; lost?: string },
): Promise<MetSession> {
  if (located.at === 'here') return entered(gateway, exchange, { session: located.session, sole });
  const isLive = async (owner: string) =>
    owner !== lost && (await gateway.replicas?.lookFor(owner)) !== undefined;
  const { owner, stored } = located;
  if (owner !== undefined && (await isLive(owner))) return { elsewhere: { owner, stored } };
  const { servers } = gateway.current();
  const adopted = await gateway.sessions.adopt(stored, {
    sole: sole && servers.get(sole.server.slug),
    servers,
    caller: exchange.caller,
    chooserFor: (server) => linkChooser(gateway, server),
  });
  if (adopted?.at === 'here') return entered(gateway, exchange, { session: adopted.session, sole });
  // Somebody else was faster.
  if (adopted?.owner !== undefined && (await isLive(adopted.owner))) {
    return { elsewhere: { owner: adopted.owner, stored: adopted.stored } };
  }
  throw new GatewayError('session-unknown', { reason: 'owner_gone' });
}

function entered(
  gateway: GatewayContext,
  exchange: Exchange,
  { session, sole }: { session: LegacySession; sole: ViewMember | undefined },
): MetSession {
  exchange.record.sessionKey = session.key;
  session.usable = liveServers(gateway, exchange);
  session.viewServers = sole === undefined ? session.usable : undefined;
  return { session };
}
