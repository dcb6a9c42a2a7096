// Which replicas are live, as last heard: what Redis says while it answers, and while it does not, what it said last.
// Pure: told what was heard, and when.
import type { LiveReplica } from './replicas.ts';

export interface Announcement {
  readonly id: string;
  readonly url: string;
  /** When it started, by its own clock. */
  readonly since: number;
  /** It is about to leave: what it has stays reachable, and nothing new is to live there. */
  readonly leaving: boolean;
}

export interface Heard extends Announcement {
  /** When it last said so, by the clock of Redis. */
  readonly saidAt: number;
}

interface Known extends Heard {
  /** When its word was last a new one, by our clock. */
  readonly heardAt: number;
}

/** Whoever has not been heard for this long is gone: two announcements may be lost. */
export const COUNTS_FOR_MS = 15_000;
/** After a pause like this in what Redis says, nobody is given up for what was not heard meanwhile. */
const PAUSE_MS = 8_000;

export class LiveReplicas {
  readonly #self: Announcement;
  readonly #others = new Map<string, Known>();
  /** By id, what was the last word of a replica that could not be reached. */
  readonly #dead = new Map<string, number>();
  /** Those that have said that they leave; an announcement that crossed it changes nothing. */
  readonly #left = new Set<string>();
  #lastHeardAt = Number.NEGATIVE_INFINITY;
  #patientSince = Number.NEGATIVE_INFINITY;
  #leaving = false;

  constructor(self: Omit<Announcement, 'leaving'>) {
    this.#self = { ...self, leaving: false };
  }

  /** Takes in what Redis says: all that have announced themselves, the latest word of each first. */
  heard(announced: readonly Heard[], now: number): void {
    if (now - this.#lastHeardAt > PAUSE_MS) this.#patientSince = now;
    this.#lastHeardAt = now;
    const said = new Set<string>();
    for (const one of announced) {
      if (one.id === this.#self.id || said.has(one.id)) continue;
      said.add(one.id);
      if (this.#left.has(one.id)) continue;
      const known = this.#others.get(one.id);
      const heardAt = known === undefined || one.saidAt > known.saidAt ? now : known.heardAt;
      this.#others.set(one.id, { ...one, heardAt });
      if (one.saidAt > (this.#dead.get(one.id) ?? Number.POSITIVE_INFINITY)) this.#dead.delete(one.id);
    }
    for (const { id, heardAt } of this.#others.values()) {
      if (now - Math.max(heardAt, this.#patientSince) > COUNTS_FOR_MS) this.#forget(id);
    }
    for (const id of this.#left) if (!said.has(id)) this.#left.delete(id);
  }

  /** It has said itself that it is gone. */
  left(id: string): void {
    if (id === this.#self.id) return;
    this.#left.add(id);
    this.#forget(id);
  }

  /** It could not be reached: left out until it has said something new. */
  failed(id: string): void {
    const known = this.#others.get(id);
    if (known !== undefined) this.#dead.set(id, known.saidAt);
  }

  /** Nothing new is to live here any more. */
  leave(): void {
    this.#leaving = true;
  }

  find(id: string): LiveReplica | undefined {
    if (id === this.#self.id) return shown(this.#self, true);
    const known = this.#others.get(id);
    return known === undefined || this.#dead.has(id) ? undefined : shown(known, false);
  }

  get all(): readonly LiveReplica[] {
    const others = [...this.#others.values()].filter(({ id }) => !this.#dead.has(id));
    return [shown(this.#self, true), ...others.map((one) => shown(one, false))];
  }

  /** Ids of those where something new may live. */
  get homes(): readonly string[] {
    const others = [...this.#others.values()].filter(({ id, leaving }) => !leaving && !this.#dead.has(id));
    return [...(this.#leaving ? [] : [this.#self.id]), ...others.map(({ id }) => id)];
  }

  #forget(id: string): void {
    this.#others.delete(id);
    this.#dead.delete(id);
  }
}

function shown({ id, url, since }: Announcement, self: boolean): LiveReplica {
  return { id, url, since, self };
}
