// All legacy sessions that run here: the store says which exist, this holds what is live of them. A session that
// ends, however it ends, leaves nothing behind: neither stream, question nor link (F04).
import { GatewayError } from '../../errors.ts';
import { LIST_CHANGES, promisedListChanges } from '../../protocol/list-changes.ts';
import type { Replicas } from '../../replicas/replicas.ts';
import type { Caller } from '../../servers/credentials/caller.ts';
import type { Server } from '../../servers/server.ts';
import { sessionKeyOf } from '../../state/session-id.ts';
import type {
  SessionLoss,
  SessionRecord,
  SessionState,
  SessionStore,
  StoredSession,
} from '../../state/session-store.ts';
import { type LinkChooser, openInheritedLinks, sessionLinkKey } from '../choose-link.ts';
import { announcedChange } from '../listening/heard-messages.ts';
import { restoreSubscriptions } from './carry-subscription.ts';
import { LegacySession, type LegacySessionOptions } from './legacy-session.ts';
import { follow, isKnownTo, leaveUpstream, tellShared } from './session-at-servers.ts';
import { type SessionEnd, SessionEnds } from './session-ends.ts';

export interface LegacySessionsOptions extends LegacySessionOptions {
  readonly idleTimeoutMs: number;
  /** Undefined where all sessions live here. */
  readonly replicas?: Pick<Replicas, 'id' | 'publish'> | undefined;
}

/** Each is a question to the store, which has its time to be answered in. */
const AT_ONCE = 50;

/** A session that exists, for whoever may have it. */
export type LocatedSession =
  | { readonly at: 'here'; readonly session: LegacySession }
  | {
      readonly at: 'elsewhere';
      /** The replica that it lives on; undefined where it has been left to whoever is asked for it. */
      readonly owner: string | undefined;
      readonly stored: StoredSession;
    };

/** What an adopted session goes on with. */
export interface AdoptionTerms {
  /** The one server of its view; undefined where the view is of several. */
  readonly sole: Server | undefined;
  /** All that there are now, by slug. */
  readonly servers: ReadonlyMap<string, Server>;
  /** Whose session it is. */
  readonly caller: Caller;
  /** Who hears what those say on links of the session's own. */
  chooserFor(server: Server): LinkChooser;
}

export class LegacySessions {
  readonly #store: SessionStore;
  #options: LegacySessionsOptions;
  readonly #live = new Map<string, LiveSession>();
  readonly #releasing = new Set<Promise<void>>();
  readonly #ends = new SessionEnds();
  #keeper: NodeJS.Timeout;
  #closed = false;

  constructor(store: SessionStore, options: LegacySessionsOptions) {
    this.#store = store;
    this.#options = options;
    store.onLost((key, loss) => this.#dispose(key, loss));
    this.#keeper = this.#startKeeper();
  }

  /** The clock also for sessions that are open, what is kept for replay for those to come. */
  applyLimits(limits: Pick<LegacySessionsOptions, 'idleTimeoutMs' | 'replay'>): void {
    this.#options = { ...this.#options, ...limits };
    clearInterval(this.#keeper);
    this.#keeper = this.#startKeeper();
  }

  get size(): number {
    return this.#live.size;
  }

  /**
   * Opens a session.
   *
   * @param sole the one server of its view; undefined where the view is of several
   * @returns its id, for the client alone
   * @throws GatewayError no-capacity, draining
   */
  async open(
    record: SessionRecord,
    sole: Server | undefined,
  ): Promise<{ id: string; session: LegacySession }> {
    const { id, key } = await this.#store.create(record);
    if (this.#closed) {
      await this.#store.end(key);
      throw new GatewayError('draining');
    }
    return { id, session: this.#bring({ key, record }, sole) };
  }

  /** What a server lists has changed, for everyone or one person: sessions whose view has it among others hear of it. */
  tellListChanged(server: Server, method: string, person: string | undefined): void {
    for (const { session, sole } of this.#live.values()) {
      if (person !== undefined && session.record.principal !== person) continue;
      const hears = session.viewServers?.has(server.slug) ?? sole === undefined;
      if (hears) tellShared(session, server, { jsonrpc: '2.0', method });
    }
  }

  /**
   * The session of that id and where it lives, if it belongs to that principal and that view; else as if it did not
   * exist (F05).
   *
   * @throws GatewayError store-unavailable
   */
  async locate(id: string, principal: string, view: string | undefined): Promise<LocatedSession | undefined> {
    const stored = await this.#store.find(id);
    if (stored === undefined || stored.record.principal !== principal || stored.record.view !== view)
      return undefined;
    return this.#located(stored);
  }

  /** The same, as far as it lives here. */
  async find(id: string, principal: string, view: string | undefined): Promise<LegacySession | undefined> {
    const located = await this.locate(id, principal, view);
    return located?.at === 'here' ? located.session : undefined;
  }

  /**
   * Goes on, here, with a session whose owner is gone or has left it. Of several replicas that try, one gets it.
   *
   * @param stored as it was located
   * @returns where it lives now; undefined where it died with its owner: its record is removed
   * @throws GatewayError store-unavailable, draining
   */
  async adopt(stored: StoredSession, terms: AdoptionTerms): Promise<LocatedSession | undefined> {
    const { replicas } = this.#options;
    if (this.#closed) throw new GatewayError('draining');
    if (stored.state.hasProcess) {
      await this.forget(stored);
      return undefined;
    }
    const taken = await this.#store.take(stored);
    if (taken === undefined || replicas === undefined) return undefined;
    const { key, owner, state } = taken;
    if (owner !== replicas.id) return { at: 'elsewhere', owner, stored: taken };
    if (state.hasProcess) {
      await this.#store.end(key);
      return undefined;
    }
    const session = this.#live.get(key)?.session ?? this.#inherit(taken, terms);
    if (this.#closed) {
      await this.#store.leave(key);
      throw new GatewayError('draining');
    }
    replicas.publish({ kind: 'session-moved', key, owner });
    return { at: 'here', session };
  }

  /**
   * Ends a session that lives on a replica which cannot be reached.
   *
   * @returns false where another one has it by now
   * @throws GatewayError store-unavailable
   */
  async forget(stored: StoredSession): Promise<boolean> {
    const isRemoved = await this.#store.remove(stored);
    if (isRemoved) this.#options.replicas?.publish({ kind: 'session-ended', key: stored.key });
    return isRemoved;
  }

  /** Another replica says that it has ended the session. */
  noteEnded(key: string): void {
    if (this.#live.has(key)) void this.#store.check(key);
  }

  /** Another replica says that it has the session now; its word may be late, so the record decides. */
  noteMoved(key: string): void {
    if (this.#live.has(key)) void this.#store.check(key);
  }

  /** Word that lists may have changed, for sessions of the views that it concerns, as far as their servers promise it. */
  announce(concerns: (view: string | undefined) => boolean): void {
    for (const { session, sole } of this.#live.values()) {
      if (!concerns(session.record.view)) continue;
      // A view of several promises word of every kind.
      const changes =
        sole === undefined ? LIST_CHANGES : promisedListChanges(sole.lastPeer?.capabilities ?? {});
      for (const { method } of changes) session.deliver(sole?.slug, announcedChange(method));
    }
  }

  /**
   * Servers have been replaced. A session of one server, of which the one before knew nothing, goes on at the next;
   * another one ends, once its calls are over, and its client begins a new one. A session of several goes on with those
   * that there are.
   */
  moveTo(successorOf: (server: Server) => Server | undefined): void {
    for (const live of this.#live.values()) {
      const { session, sole, stop } = live;
      if (sole === undefined) session.moveSubscriptions(successorOf);
      if (sole === undefined || session.leaving) continue;
      const successor = successorOf(sole);
      if (successor === sole) continue;
      if (successor === undefined || isKnownTo(sole, session)) {
        this.#letGo(session);
        continue;
      }
      stop();
      live.sole = successor;
      live.stop = follow(session, successor);
    }
  }

  end({ key }: LegacySession, why: SessionEnd): Promise<void> {
    this.#ends.note(key, why);
    return this.#store.end(key);
  }

  /** What has become of the session of that id, if it ended here not long ago. Not for clients. */
  endOf(id: string): SessionEnd | undefined {
    const key = sessionKeyOf(id);
    return key === undefined ? undefined : this.#ends.of(key);
  }

  /**
   * Before links are closed for good: what sessions have at servers is left to whoever goes on with them. Does nothing
   * where nobody would.
   */
  startHandOver(): void {
    for (const { session } of this.#live.values()) if (this.#outlives(session)) leaveUpstream(session);
  }

  /** Ends all sessions, but for those that another replica can go on with. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#keeper);
    const sessions = [...this.#live.values()].map(({ session }) => session);
    for (let from = 0; from < sessions.length; from += AT_ONCE) {
      const some = sessions.slice(from, from + AT_ONCE);
      await Promise.all(
        some.map((session) =>
          this.#outlives(session) ? this.#store.leave(session.key) : this.#store.end(session.key),
        ),
      );
    }
    await Promise.all(this.#releasing);
    await this.#store.close();
  }

  #inherit(stored: StoredSession, { sole, servers, ...terms }: AdoptionTerms): LegacySession {
    const session = this.#bring(stored, sole);
    openInheritedLinks(session, servers, terms);
    restoreSubscriptions(session, servers, terms.caller);
    return session;
  }

  /** @param stored with a state where it has been somewhere else before */
  #bring({ key, record, state }: BroughtSession, sole: Server | undefined): LegacySession {
    const { replicas } = this.#options;
    const save = replicas && ((one: string, changed: SessionState) => this.#store.save(one, changed));
    const session = new LegacySession(key, record, { ...this.#options, save }, state);
    this.#live.set(key, { session, sole, stop: follow(session, sole) });
    return session;
  }

  #located(stored: StoredSession): LocatedSession | undefined {
    const { key, owner } = stored;
    const session = this.#live.get(key)?.session;
    const { replicas } = this.#options;
    if (replicas === undefined || owner === replicas.id) {
      if (session !== undefined) {
        this.#store.touch(key);
        return { at: 'here', session };
      }
      // What was said to be here and is not has been lost on the way, and may be taken up again.
      return replicas && { at: 'elsewhere', owner: undefined, stored };
    }
    return { at: 'elsewhere', owner, stored };
  }

  #outlives({ kept, leaving }: LegacySession): boolean {
    return this.#options.replicas !== undefined && !kept.state.hasProcess && !leaving;
  }

  #dispose(key: string, loss: SessionLoss): void {
    const live = this.#live.get(key);
    if (live === undefined) return;
    this.#live.delete(key);
    if (loss === 'over') this.#ends.note(key, 'expired');
    live.session.end();
    live.stop();
    if (loss === 'moved') leaveUpstream(live.session);
    const links = [...live.session.servers].map((server) =>
      server.releaseOwnLink(sessionLinkKey(live.session)),
    );
    const releasing: Promise<void> = Promise.all(links)
      .then(() => undefined)
      .finally(() => this.#releasing.delete(releasing));
    this.#releasing.add(releasing);
  }

  #startKeeper(): NodeJS.Timeout {
    const everyMs = Math.min(30_000, Math.max(50, this.#options.idleTimeoutMs / 5));
    return setInterval(() => this.#keepBusy(), everyMs).unref();
  }

  #letGo(session: LegacySession): void {
    session.leaving = true;
    session.standalone.end();
    if (!session.calling) void this.end(session, 'server_changed');
  }

  #keepBusy(): void {
    for (const { session } of [...this.#live.values()]) {
      session.streams.prune();
      // Some time after its last call, so that a client that lost its connection can still fetch the answer.
      if (session.leaving && !session.calling) void this.end(session, 'server_changed');
      if (session.busy) this.#store.touch(session.key);
    }
  }
}

type BroughtSession = Pick<StoredSession, 'key' | 'record'> & Partial<Pick<StoredSession, 'state'>>;

interface LiveSession {
  readonly session: LegacySession;
  /** Undefined where its view is of several servers. */
  sole: Server | undefined;
  /** Ends the hearing of what its server says to all. */
  stop: () => void;
}
