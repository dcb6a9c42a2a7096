// Where contestants are put up and taken down: their programs, a folder for their files, the load generator.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, Era } from './load/client-requests.ts';
import { type Loader, startLoader } from './load/loader.ts';
import { has } from './machine.ts';
import type { BenchOptions, Peer } from './options.ts';
import { RESULT_BYTES } from './raw/answers.ts';
import type { Contestant } from './rounds.ts';
import { startNginx } from './targets/nginx.ts';
import { type Portico, type PorticoOptions, startPortico } from './targets/portico.ts';
import { startRawServer } from './targets/raw.ts';
import { startRedis } from './targets/redis.ts';
import { startUndiciProxy } from './targets/start-undici-proxy.ts';
import { requestsFor, type Target } from './targets/target.ts';
import { startTokenIssuer, type TokenIssuer } from './targets/token-issuer.ts';

interface Stoppable {
  stop(): Promise<void>;
}

/** As many as hold a token each. */
const CALLERS = 200;
/** A JIT compiler has made up its mind by then; or it has had the time of so many rounds. */
const WARM_UP_CALLS = 40_000;
const WARM_UP_ROUNDS = 5;

export type StageOptions = Pick<BenchOptions, 'quick' | 'peers' | 'forMs'>;

export class Stage implements AsyncDisposable {
  readonly quick: boolean;
  readonly peers: readonly Peer[];
  readonly roundMs: number;
  readonly folder: string;
  readonly loader: Loader;
  readonly issuer: TokenIssuer;
  /** What could not be measured, and why. */
  readonly gaps = new Set<string>();
  readonly #kept: Stoppable[] = [];

  private constructor({ quick, peers, forMs }: StageOptions, folder: string, issuer: TokenIssuer) {
    this.quick = quick;
    this.peers = peers;
    this.roundMs = forMs;
    this.folder = folder;
    this.issuer = issuer;
    this.loader = this.keep(startLoader());
  }

  static async open(options: StageOptions): Promise<Stage> {
    return new Stage(options, await mkdtemp(join(tmpdir(), 'bench-')), await startTokenIssuer(CALLERS));
  }

  keep<T extends Stoppable>(stoppable: T): T {
    this.#kept.push(stoppable);
    return stoppable;
  }

  async own<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    return this.keep(await starting);
  }

  /** A server for others to stand before. */
  server(era: Era, tools?: number): Promise<Target> {
    return this.own(startRawServer('others', { era, ...(tools === undefined ? {} : { tools }) }));
  }

  undiciProxy(server: Target): Promise<Target> {
    return this.own(startUndiciProxy(server.port, this.issuer.tokens));
  }

  portico(options: PorticoOptions): Promise<Portico> {
    return this.own(startPortico(this.folder, this.issuer, options));
  }

  async withNginx(server: Target, use: (nginx: Target) => Promise<void>): Promise<void> {
    if (has('nginx')) return use(await this.own(startNginx(this.folder, server.port, this.issuer.tokens)));
    this.gaps.add('nginx is not installed: no ratio to it');
  }

  async withRedis(use: (url: string) => Promise<void>): Promise<void> {
    if (has('redis-server')) return use((await this.own(startRedis())).url);
    this.gaps.add('redis-server is not installed: no row with limits in Redis');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#kept.map((kept) => kept.stop()));
    this.issuer.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Warmed up, and found to answer rightly. */
export async function contestantOf(
  stage: Stage,
  { name, target, call, sessions }: { name: string; target: Target; call: Call; sessions?: number },
): Promise<Contestant> {
  const requests = await requestsFor(target, call, sessions);
  const contestant: Contestant = {
    name,
    pids: target.pids,
    load: (shape) =>
      stage.loader.run({ ...shape, port: target.port, requests, leastBytes: RESULT_BYTES[call.size] }),
  };
  const concurrency = call.size === 'mb10' ? 2 : 16;
  let calls = 0;
  for (let rounds = 0; rounds < WARM_UP_ROUNDS && calls < WARM_UP_CALLS; rounds += 1) {
    const { failed, firstFailure, finished } = await contestant.load({ concurrency, forMs: stage.roundMs });
    if (failed > 0) throw new Error(`${name} answers wrongly: ${firstFailure}`);
    calls += finished;
  }
  return contestant;
}
