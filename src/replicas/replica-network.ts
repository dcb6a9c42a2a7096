// This replica among the others: says that it is there, hears of the rest, hands messages over, tells news. Without
// Redis it goes on with those that it last heard of.
import type { ReplicaConfig } from '../config/replica-config.ts';
import type { StopSignal } from '../runtime/stop.ts';
import { RedisChannel, type RedisChannelOptions } from '../state/redis-channel.ts';
import { RedisReplicaList } from '../state/redis-replica-list.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openAnnouncement, sealAnnouncement } from './announcement.ts';
import { openEvent, sealEvent } from './event-text.ts';
import { COUNTS_FOR_MS, LiveReplicas } from './live-replicas.ts';
import { rendezvous } from './rendezvous.ts';
import type { ReplicaClient } from './replica-client.ts';
import type { ReplicaKeys } from './replica-keys.ts';
import type { ForwardOutcome, ReplicaMetrics } from './replica-metrics.ts';
import {
  type ForwardedExchange,
  type LiveReplica,
  type ReplicaEvent,
  ReplicaRefusal,
  type Replicas,
  ReplicaUnreachable,
  type ReplyFrame,
} from './replicas.ts';

export interface ReplicaNetworkOptions {
  readonly id: string;
  readonly config: ReplicaConfig;
  readonly keys: ReplicaKeys;
  readonly redis: Omit<RedisChannelOptions, 'name' | 'onMessage'>;
  readonly client: ReplicaClient;
  readonly metrics: ReplicaMetrics;
  readonly logger: Logger;
}

type Listener = (event: ReplicaEvent, from: string) => void;

const CHANNEL = 'replicas:events';
const ANNOUNCE_EVERY_MS = 5_000;
/** While Redis does not answer; the others then take it for gone all the sooner once it does. */
const ANNOUNCE_WHILE_AWAY_MS = 500;
/** One that takes nothing is told of this often. */
const WARN_EVERY_MS = 600_000;

export class ReplicaNetwork implements Replicas {
  readonly id: string;
  readonly #options: ReplicaNetworkOptions;
  readonly #known: LiveReplicas;
  readonly #list: RedisReplicaList;
  readonly #channel: RedisChannel;
  readonly #listeners: Listener[] = [];
  readonly #since = Date.now();
  /** Those that could not be reached, until they can be. */
  readonly #unreachable = new Set<string>();
  /** When it was last told of them that they do not take what is theirs. */
  readonly #refusing = new Map<string, number>();
  #isOpen = false;
  #leaving = false;
  #timer: NodeJS.Timeout | undefined;
  #announcing: Promise<void> | undefined;
  /** The one behind it, of which nothing has begun. */
  #nextAnnouncing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ReplicaNetworkOptions) {
    const { id, config, redis } = options;
    this.id = id;
    this.#options = options;
    this.#known = new LiveReplicas({ id, url: config.url, since: this.#since });
    this.#list = new RedisReplicaList(redis.connection, COUNTS_FOR_MS);
    this.#channel = new RedisChannel({
      ...redis,
      name: CHANNEL,
      onMessage: (text) => this.#onMessage(text),
      onListening: () => {
        if (this.#isOpen && this.#closing === undefined) void this.#join();
      },
    });
  }

  get live(): readonly LiveReplica[] {
    return this.#known.all;
  }

  find(id: string): LiveReplica | undefined {
    return this.#known.find(id);
  }

  async lookFor(id: string): Promise<LiveReplica | undefined> {
    const known = this.find(id);
    if (known !== undefined || this.#closing !== undefined) return known;
    await this.#announce();
    return this.find(id);
  }

  homeOf(key: string): string {
    return rendezvous(key, this.#known.homes) ?? this.id;
  }

  /** Once this one can be reached: the others may send from here on. Resolves when it has heard of them, if it can. */
  async open(): Promise<void> {
    await this.#channel.open();
    this.#isOpen = true;
    await this.#join();
  }

  /** Looks only once it listens: who comes before is seen, who comes after is heard. */
  async #join(): Promise<void> {
    await this.#announce();
    if (!this.#leaving) this.publish({ kind: 'replica-joined' });
  }

  /** Nothing new is to live here; what does stays reachable until `close`. */
  async leave(): Promise<void> {
    this.#leaving = true;
    this.#known.leave();
    await this.#announce();
  }

  /** Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async forward(to: string, sent: ForwardedExchange, signal: StopSignal): Promise<AsyncIterable<ReplyFrame>> {
    const { client, metrics } = this.#options;
    const home = to === this.id ? undefined : this.#known.find(to);
    if (home === undefined) throw new ReplicaUnreachable('no such replica is known');
    const startedAt = performance.now();
    try {
      const frames = await client.forward(home, sent, signal);
      metrics.onTakenOver(performance.now() - startedAt);
      this.#reached(home.id);
      return this.#counted(frames, signal);
    } catch (thrown) {
      metrics.onForwarded('out', outcomeOf(thrown, signal));
      if (thrown instanceof ReplicaRefusal) this.#refused(home.id, thrown);
      else if (thrown instanceof ReplicaUnreachable) this.#failed(home.id, thrown);
      throw thrown;
    }
  }

  publish(event: ReplicaEvent): void {
    const { keys, metrics } = this.#options;
    metrics.onEvent('out', event.kind);
    void this.#channel.say(sealEvent(event, { from: this.id, key: keys.event, now: Date.now() }));
  }

  onEvent(listener: Listener): void {
    this.#listeners.push(listener);
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    await (this.#nextAnnouncing ?? this.#announcing);
    await this.#list.withdraw().catch(() => {});
    const { keys, client } = this.#options;
    const left: ReplicaEvent = { kind: 'replica-left' };
    await this.#channel.say(sealEvent(left, { from: this.id, key: keys.event, now: Date.now() }));
    await this.#channel.close();
    await client.close();
  }

  /** One at a time, and whoever asks meanwhile shares the next; others follow by themselves. Never rejects. */
  #announce(): Promise<void> {
    clearTimeout(this.#timer);
    this.#nextAnnouncing ??= (this.#announcing ?? Promise.resolve()).then(() => {
      this.#announcing = this.#nextAnnouncing;
      this.#nextAnnouncing = undefined;
      return this.#announceNow();
    });
    return this.#nextAnnouncing;
  }

  async #announceNow(): Promise<void> {
    const { keys, config, client } = this.#options;
    const own = { id: this.id, url: config.url, since: this.#since, leaving: this.#leaving };
    let afterMs = ANNOUNCE_EVERY_MS;
    try {
      const announced = await this.#list.announce(sealAnnouncement(own, keys.announcement));
      this.#known.heard(
        announced.flatMap(({ text, saidAt }) => {
          const one = openAnnouncement(text, keys.announcement);
          return one === undefined ? [] : [{ ...one, saidAt }];
        }),
        performance.now(),
      );
      client.keepOnly(new Set(this.live.map(({ url }) => url)));
    } catch {
      afterMs = ANNOUNCE_WHILE_AWAY_MS;
    }
    if (this.#closing !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#announce(), afterMs);
    this.#timer.unref();
  }

  #onMessage(text: string): void {
    const { keys, metrics, logger } = this.#options;
    const opened = openEvent(text, { key: keys.event, now: Date.now() });
    if (opened === undefined) {
      metrics.onEvent('refused', 'unknown');
      return;
    }
    const { event, from } = opened;
    if (from === this.id) return;
    metrics.onEvent('in', event.kind);
    if (event.kind === 'replica-left') this.#known.left(from);
    if (event.kind === 'replica-joined' && this.#closing === undefined) void this.#announce();
    for (const listener of this.#listeners) {
      try {
        listener(event, from);
      } catch (thrown) {
        logger.error({ err: thrown }, 'internal error');
      }
    }
  }

  async *#counted(frames: AsyncIterable<ReplyFrame>, signal: StopSignal): AsyncGenerator<ReplyFrame, void> {
    let outcome: ForwardOutcome = 'cancelled';
    try {
      for await (const frame of frames) {
        if ('record' in frame) outcome = 'answered';
        yield frame;
      }
    } catch (thrown) {
      outcome = outcomeOf(thrown, signal);
      throw thrown;
    } finally {
      this.#options.metrics.onForwarded('out', outcome);
    }
  }

  #failed(id: string, { message, cause }: ReplicaUnreachable): void {
    this.#known.failed(id);
    if (this.#unreachable.has(id)) return;
    this.#unreachable.add(id);
    const reason = cause instanceof Error ? cause.message : message;
    this.#options.logger.warn({ replica: id, error: reason }, 'a replica cannot be reached');
  }

  #refused(id: string, { message }: ReplicaRefusal): void {
    const now = performance.now();
    if (now < (this.#refusing.get(id) ?? Number.NEGATIVE_INFINITY) + WARN_EVERY_MS) return;
    for (const known of this.#refusing.keys())
      if (this.#known.find(known) === undefined) this.#refusing.delete(known);
    this.#refusing.set(id, now);
    this.#options.logger.warn({ replica: id, error: message }, 'a replica does not take a message');
  }

  #reached(id: string): void {
    if (this.#unreachable.delete(id))
      this.#options.logger.info({ replica: id }, 'a replica can be reached again');
  }
}

function outcomeOf(thrown: unknown, signal: StopSignal): ForwardOutcome {
  if (thrown instanceof ReplicaUnreachable) return 'unreachable';
  return signal.aborted ? 'cancelled' : 'lost';
}
