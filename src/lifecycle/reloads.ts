// One reload at a time. Whoever asks while one runs is served by the next, which reads what is there by then.
import { formatProblem } from '../config/config-problem.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Reads the config anew, whole: the environment and every file that it refers to. */
export type ReadConfig = () => Promise<LoadedConfig>;

/** `ignored`: the gateway is ending. */
export type ReloadOutcome = 'applied' | 'unchanged' | 'refused' | 'ignored';

export interface AppliedReload {
  readonly outcome: 'applied' | 'unchanged';
  /** What changed, and what waits for a restart, for the log. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface RefusedReload {
  readonly outcome: 'refused';
  readonly problems: readonly string[];
}

export interface ReloadsOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  isEnding(): boolean;
  /** Puts a checked config to use, at once or not at all. */
  apply(loaded: Extract<LoadedConfig, { ok: true }>): AppliedReload | RefusedReload;
}

export interface ReloadStatus {
  /** Of the config that holds: when it was read. */
  readonly loadedAt: string;
  /** Undefined until there has been one. */
  readonly lastReload:
    | { readonly at: string; readonly outcome: ReloadOutcome; readonly problems: readonly string[] }
    | undefined;
}

export class Reloads {
  readonly #options: ReloadsOptions;
  readonly #counter: ReturnType<Metrics['counter']>;
  #running: Promise<ReloadOutcome> | undefined;
  #queued: { read: ReadConfig; readonly done: Promise<ReloadOutcome> } | undefined;
  #loadedAt = new Date();
  #last: ReloadStatus['lastReload'];

  constructor(options: ReloadsOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#counter = metrics.counter(
      'portico_config_reloads_total',
      'Reloads of the config by outcome: applied, unchanged, refused',
      ['outcome'],
    );
    metrics.watch({
      name: 'portico_config_last_reload_successful',
      help: 'Whether the config that holds is the one that was read last: 1, or 0',
      read: () => (this.#last?.outcome === 'refused' ? 0 : 1),
    });
    metrics.watch({
      name: 'portico_config_loaded_timestamp_seconds',
      help: 'When the config that holds was read',
      read: () => this.#loadedAt.getTime() / 1_000,
    });
  }

  get status(): ReloadStatus {
    return { loadedAt: this.#loadedAt.toISOString(), lastReload: this.#last };
  }

  /** Never rejects. */
  request(read: ReadConfig): Promise<ReloadOutcome> {
    if (this.#running === undefined) return this.#start(read);
    if (this.#queued === undefined) {
      const done = this.#running.then(() => this.#startQueued());
      this.#queued = { read, done };
    } else {
      this.#queued.read = read;
    }
    return this.#queued.done;
  }

  #startQueued(): Promise<ReloadOutcome> {
    const queued = this.#queued;
    this.#queued = undefined;
    return queued === undefined ? Promise.resolve('ignored') : this.#start(queued.read);
  }

  #start(read: ReadConfig): Promise<ReloadOutcome> {
    this.#running = this.#reload(read).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #reload(read: ReadConfig): Promise<ReloadOutcome> {
    const { isEnding, apply, logger } = this.#options;
    if (isEnding()) return 'ignored';
    const at = new Date();
    const result = await this.#readAndApply(read, apply);
    if (result === undefined) return 'ignored';
    const problems = result.outcome === 'refused' ? result.problems : [];
    this.#counter.labels(result.outcome).inc();
    this.#last = { at: at.toISOString(), outcome: result.outcome, problems };
    if (result.outcome === 'refused') {
      logger.error({ problems }, 'the config was not reloaded: the one before it holds');
    } else {
      this.#loadedAt = at;
      const words = result.outcome === 'applied' ? 'config reloaded' : 'config read again: nothing changed';
      logger.info(result.facts, words);
    }
    return result.outcome;
  }

  async #readAndApply(
    read: ReadConfig,
    apply: ReloadsOptions['apply'],
  ): Promise<AppliedReload | RefusedReload | undefined> {
    try {
      const loaded = await read();
      if (this.#options.isEnding()) return undefined;
      return loaded.ok ? apply(loaded) : { outcome: 'refused', problems: loaded.problems.map(formatProblem) };
    } catch (thrown) {
      return { outcome: 'refused', problems: [thrown instanceof Error ? thrown.message : String(thrown)] };
    }
  }
}
