// Looks into the bridge of every gateway of this process: what it holds of calls, questions and subscriptions. For tests
// that assert that all of it is let go.

import { type LinkHub, LinkHubs } from '../../src/bridge/listening/link-hub.ts';
import { ParkedCalls } from '../../src/bridge/parking/parked-calls.ts';
import type { LegacySession } from '../../src/bridge/sessions/legacy-session.ts';
import { LegacySessions } from '../../src/bridge/sessions/legacy-sessions.ts';

export interface BridgeTables {
  /** What is held now, by table; every number is 0 when nothing is left. */
  held(): Record<string, number>;
  stop(): void;
}

/** Watches what is made from now on. */
export function watchBridge(): BridgeTables {
  const hubs = new Set<LinkHub>();
  const registries = new Set<LinkHubs>();
  const parked = new Set<ParkedCalls>();
  const sessions = new Set<LegacySession>();
  const { of } = LinkHubs.prototype;
  const openCall = ParkedCalls.prototype.open;
  const openSession = LegacySessions.prototype.open;
  LinkHubs.prototype.of = function watchedOf(...args) {
    registries.add(this);
    const hub = of.apply(this, args);
    hubs.add(hub);
    return hub;
  };
  ParkedCalls.prototype.open = function watchedOpen(...args) {
    parked.add(this);
    return openCall.apply(this, args);
  };
  LegacySessions.prototype.open = async function watchedOpen(...args) {
    const opened = await openSession.apply(this, args);
    sessions.add(opened.session);
    return opened;
  };
  const sum = <T>(items: Iterable<T>, count: (item: T) => number) =>
    [...items].reduce((total, item) => total + count(item), 0);
  return {
    held: () => ({
      parkedCalls: sum(parked, (calls) => calls.size),
      callsOfHubs: sum(hubs, (hub) => hub.held),
      waitingForATurn: sum(hubs, (hub) => hub.turns.waiting),
      subscriptionsOfHubs: sum(hubs, (hub) => hub.subscriptions.size),
      listenedOwners: sum(registries, (registry) => registry.listened),
      callsInFlight: sum(hubs, ({ link }) => link.inFlight),
      streamsOfLinks: sum(hubs, ({ link }) => (link.peer.era === 'legacy' ? link.streams : 0)),
      unsettledOfHubs: sum(hubs, (hub) => hub.unsettled),
      openQuestions: sum(sessions, (session) => session.pendingQuestions),
      openSessions: sum(sessions, (session) => Number(!session.ended.aborted)),
      streamsOfSessions: sum(sessions, (session) => session.streams.size),
      busySessions: sum(sessions, (session) => Number(session.busy)),
    }),
    stop() {
      LinkHubs.prototype.of = of;
      ParkedCalls.prototype.open = openCall;
      LegacySessions.prototype.open = openSession;
    },
  };
}
