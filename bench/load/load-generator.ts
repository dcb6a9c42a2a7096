// The load generator, a process of its own: takes jobs from its parent. It writes prepared bytes and reads answers off
// plain sockets, because a generator that costs more than nginx cannot find out what nginx can do; and it checks each
// answer's status, id and size, since a proxy that answers wrongly is fast.
import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.ts';
import type { LoadJob, LoadOutcome, LoadRequest } from './load-job.ts';
import { quantilesOf } from './quantiles.ts';

process.on('message', (job: LoadJob) => {
  void new Load(job).run().then((outcome) => process.send?.(outcome));
});

/** For answers that are still due when a job's time is up. */
const PATIENCE_MS = 10_000;

class Load {
  readonly #job: LoadJob;
  readonly #latencies: number[] = [];
  /** Arrivals that found no free connection, by when they were due. */
  readonly #waiting: number[] = [];
  readonly #idle: Connection[] = [];
  #open = 0;
  #failed = 0;
  #firstFailure: string | undefined;
  #over = false;
  readonly #ended = Promise.withResolvers<void>();
  /** Of anything: however short a job, it has a rate. */
  readonly #heard = Promise.withResolvers<void>();

  constructor(job: LoadJob) {
    this.#job = job;
  }

  async run(): Promise<LoadOutcome> {
    const { concurrency, port, forMs, perSecond } = this.#job;
    const connections = Array.from({ length: concurrency }, (_, place) => new Connection(port, place, this));
    await Promise.all(connections.map((connection) => connection.opened));
    this.#open = concurrency;
    const startedAt = performance.now();
    if (perSecond === undefined) for (const connection of connections) this.free(connection);
    else {
      this.#idle.push(...connections);
      this.#pace(perSecond, startedAt);
    }
    const unheard = setTimeout(() => this.failed(`no answer in ${PATIENCE_MS} ms`), PATIENCE_MS + forMs);
    await Promise.all([new Promise((resolve) => setTimeout(resolve, forMs)), this.#heard.promise]);
    clearTimeout(unheard);
    this.#over = true;
    // Counted is what was answered in time; what is still open is awaited, so that nothing is left for the next job.
    const answered = this.#latencies.length;
    const elapsedMs = performance.now() - startedAt;
    for (const connection of this.#idle) connection.end();
    const late = setTimeout(() => {
      for (const connection of connections) connection.giveUp();
    }, PATIENCE_MS);
    await this.#ended.promise;
    clearTimeout(late);
    return {
      answered,
      finished: this.#latencies.length,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
      elapsedMs,
      ...quantilesOf(this.#latencies),
    };
  }

  /** A connection may send its next request. */
  free(connection: Connection): void {
    const due = this.#job.perSecond === undefined ? performance.now() : this.#waiting.shift();
    if (this.#over) connection.end();
    else if (due === undefined) this.#idle.push(connection);
    else connection.send(this.#take(connection), due);
  }

  answered(latencyMs: number, reader: AnswerReader, { id }: LoadRequest): void {
    const { status, bodyBytes, bodyStart } = reader;
    const right =
      status === 200 &&
      bodyBytes >= this.#job.leastBytes &&
      (bodyStart.includes(`"id":${id},`) || bodyStart.includes(`"id":${id}}`)) &&
      !bodyStart.includes('"error"');
    if (right) {
      this.#latencies.push(latencyMs);
      this.#heard.resolve();
    } else {
      this.failed(`${status} ${bodyStart}`);
    }
  }

  failed(what: string): void {
    this.#failed += 1;
    this.#heard.resolve();
    this.#firstFailure ??= what.slice(0, 300);
  }

  closed(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#ended.resolve();
  }

  /** Arrivals come however slow the answers are, so that a pause is felt by all who come during it. */
  #pace(perSecond: number, startedAt: number): void {
    let sent = 0;
    const timer = setInterval(() => {
      if (this.#over) return clearInterval(timer);
      const now = performance.now();
      for (; sent < ((now - startedAt) / 1000) * perSecond; sent += 1) {
        const connection = this.#idle.pop();
        if (connection === undefined) this.#waiting.push(now);
        else connection.send(this.#take(connection), now);
      }
    }, 1);
  }

  /** Each connection has its own share of the requests: in one session two at a time would have one id. */
  #take(connection: Connection): LoadRequest {
    const { requests, concurrency } = this.#job;
    const request = requests[connection.nextRequest % requests.length];
    connection.nextRequest += concurrency;
    return request as LoadRequest;
  }
}

class Connection {
  readonly opened: Promise<void>;
  nextRequest: number;
  readonly #load: Load;
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #asked: LoadRequest | undefined;
  #askedAt = 0;

  constructor(port: number, place: number, load: Load) {
    this.nextRequest = place;
    this.#load = load;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.once('connect', resolve);
    this.#socket.on('error', (error) => {
      reject(error);
      this.#load.failed(error.message);
    });
    this.#socket.on('close', () => {
      if (this.#asked !== undefined) this.#load.failed('the connection was closed before the answer');
      this.#load.closed();
    });
    this.#socket.on('data', (chunk) => this.#read(chunk));
  }

  /** @param dueAt when it should have been sent */
  send(request: LoadRequest, dueAt: number): void {
    this.#asked = request;
    this.#askedAt = dueAt;
    this.#socket.write(request.bytes, 'latin1');
  }

  end(): void {
    this.#socket.end();
  }

  giveUp(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const asked = this.#asked;
    if (asked === undefined || !this.#reader.read(chunk)) return;
    this.#asked = undefined;
    this.#load.answered(performance.now() - this.#askedAt, this.#reader, asked);
    this.#reader.next();
    this.#load.free(this);
  }
}
