// The wire to a child process: one JSON-RPC message a line over its standard streams, many calls at a time.
// The handshake, restarts and the deadlines of calls are the business of whoever holds it.
import { setTimeout as delay } from 'node:timers/promises';
import type { StdioServerConfig } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { BufferBudget } from '../../state/buffer-budget.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { CallSlots } from '../call-slots.ts';
import { PendingCalls } from '../pending-calls.ts';
import type { ServerStats } from '../server-stats.ts';
import type { ServerTransport, TransportEvents, UpstreamCall } from '../transport.ts';
import {
  type ChildExit,
  type ChildProcess,
  STOP_TIMINGS,
  type StopTimings,
  startChildProcess,
} from './child-process.ts';
import type { Guardian } from './guardian.ts';
import { LineSplitter } from './line-splitter.ts';
import { OutputSampler } from './output-sample.ts';
import { prepareLaunch } from './prepare-launch.ts';
import { StderrLog } from './stderr-log.ts';
import { StdioInbox } from './stdio-inbox.ts';
import { StdioOutbox } from './stdio-outbox.ts';
import type { StdioStats } from './stdio-stats.ts';
import { type QueuedFrame, WriteQueue } from './write-queue.ts';

export interface StdioTimings extends StopTimings {
  /** How long the output of a process that ended is still read when another process holds the pipe open. */
  readonly outputDrainMs: number;
}

export interface StdioTransportOptions {
  readonly events: TransportEvents;
  readonly logger: Logger;
  /** What is half read, and what waits to be written, counts here. */
  readonly budget: BufferBudget;
  /** Aborts the start; once started, the transport is ended by `close`. */
  readonly signal?: AbortSignal | undefined;
  readonly timings?: Partial<StdioTimings>;
  /** The process is one principal's, or one session's, alone. */
  readonly personal?: boolean;
  readonly guardian?: Guardian | undefined;
  /** Once it aborts, nothing is waited for any longer than it must. */
  readonly hurry?: AbortSignal | undefined;
  readonly stats?: ServerStats | undefined;
}

const TIMINGS: StdioTimings = { ...STOP_TIMINGS, outputDrainMs: 250 };
/**
 * Starts the server's process; resolves as soon as it runs.
 *
 * @throws GatewayError server-unavailable when it cannot be executed, or the signal's reason
 */
export async function startStdioTransport(
  config: StdioServerConfig,
  options: StdioTransportOptions,
): Promise<StdioTransport> {
  const { events, logger, budget, signal, timings: changed, personal = false } = options;
  const { guardian, hurry, stats } = options;
  const timings = { ...TIMINGS, ...changed };
  const { launch, cleanUp } = await prepareLaunch(config, { personal, guardian });
  try {
    const child = await startChildProcess(launch, { signal, timings, guardian, hurry });
    return new StdioTransport(child, config, {
      events,
      budget,
      logger: logger.child({ server: config.slug, pid: child.pid }),
      outputDrainMs: timings.outputDrainMs,
      cleanUp,
      stats,
    });
  } catch (thrown) {
    await cleanUp();
    throw thrown;
  }
}

interface Wire {
  readonly events: TransportEvents;
  readonly logger: Logger;
  readonly budget: BufferBudget;
  readonly outputDrainMs: number;
  /** Once nothing is left of the process. */
  cleanUp(): Promise<void>;
  readonly stats?: ServerStats | undefined;
}

export class StdioTransport implements ServerTransport {
  readonly kind = 'stdio';
  readonly pid: number;
  /** The first byte on either output. Never settles when there is none; `exited` does. */
  readonly firstOutput: Promise<void>;
  readonly exited: Promise<ChildExit>;

  readonly #child: ChildProcess;
  readonly #wire: Wire;
  readonly #calls = new PendingCalls();
  readonly #slots: CallSlots;
  readonly #inbox: StdioInbox;
  readonly #lines: LineSplitter;
  readonly #outbox: StdioOutbox;
  readonly #stderr: StderrLog;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #exit: ChildExit | undefined;
  #pauses = 0;
  #stopped: Promise<void> | undefined;
  readonly #untrack: (() => void) | undefined;

  constructor(child: ChildProcess, config: StdioServerConfig, wire: Wire) {
    const { events, logger, budget } = wire;
    const sampler = new OutputSampler(Object.values(config.env));
    this.pid = child.pid;
    this.exited = child.exited;
    this.#child = child;
    this.#wire = wire;
    this.#slots = new CallSlots(config);
    this.#inbox = new StdioInbox({ calls: this.#calls, events, logger, sampler });
    this.#stderr = new StderrLog({ logger, sampler });
    this.#outbox = new StdioOutbox({
      writes: new WriteQueue(child.stdin, config.maxMessageBytes, budget.open()),
      logger,
      onUnreadAnswers: () => this.#breach('unread-answers', 'it asked on and on, and read no answer'),
    });
    const unfinished = budget.open();
    this.#lines = new LineSplitter({
      maxLineBytes: config.maxMessageBytes,
      onHeld: (bytes) => unfinished.count(bytes),
      onLine: (line) => this.#inbox.take(line),
      onOverflow: () =>
        this.#breach('message-too-large', `it sent a message over ${config.maxMessageBytes} bytes`),
    });
    this.firstOutput = this.#listen();
    this.#untrack = wire.stats?.track(this);
  }

  /** False as soon as it takes no more calls; what the process said before its end may still be on its way. */
  get open(): boolean {
    return this.#state === 'open';
  }

  get stats(): StdioStats {
    const { waits: queueWaits, waitedMs: queueWaitMs } = this.#slots.stats;
    const queued = this.#slots.waiting;
    return { ...this.#inbox.stats, stderrLines: this.#stderr.lines, queued, queueWaits, queueWaitMs };
  }

  /** The last few kilobytes of stderr, masked: for the log, never for a client. */
  get stderrTail(): string {
    return this.#stderr.tail;
  }

  async call(call: UpstreamCall): Promise<JsonRpcOutcome> {
    if (call.longLived) return this.#send(call);
    const { signal, caller } = call;
    const slots = this.#slots;
    const release = slots.acquireNow(signal, caller?.key) ?? (await slots.acquire(signal, caller?.key));
    try {
      call.onAdmitted?.();
      return await this.#send(call);
    } finally {
      release();
    }
  }

  /** Never rejects: what finds the queue full, as with a child that has stopped reading, is dropped and logged. */
  notify(message: JsonRpcNotification): Promise<void> {
    return this.#outbox.notify(message);
  }

  /** Never rejects, as `notify`. A server that asks on and on without reading an answer is ended. */
  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    return this.#outbox.respond(id, outcome);
  }

  /** The messages say it themselves on this wire. */
  setProtocolVersion(): void {}

  /**
   * Reads nothing more until the returned function is called; the child then blocks on a full pipe, which is how
   * back-pressure reaches it. For links that are not shared: everyone on the wire waits.
   */
  pauseReading(): () => void {
    if (this.#state !== 'open') return () => {};
    this.#pauses += 1;
    this.#child.stdout.pause();
    let paused = true;
    return () => {
      if (!paused) return;
      paused = false;
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#child.stdout.resume();
    };
  }

  async close(): Promise<void> {
    this.#finish({ text: 'The server is being stopped', reason: 'closed', words: 'it was closed' });
    await this.#stopped;
  }

  #listen(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const output of [stdout, stderr]) output.once('data', () => resolve());
    stdout.on('data', (chunk: Buffer) => this.#lines.push(chunk));
    stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    stderr.once('end', () => this.#stderr.end());
    stdout.once('end', () => void this.#windDown('it closed its output'));
    stdin.once('error', () => void this.#windDown('it closed its input'));
    void this.#awaitExit();
    return promise;
  }

  async #awaitExit(): Promise<void> {
    this.#exit = await this.#child.exited;
    this.#wire.stats?.exited(this.#exit);
    await this.#windDown('it ended');
  }

  async #send(call: UpstreamCall): Promise<JsonRpcOutcome> {
    if (this.#state !== 'open') throw processEnded('it had ended before', 'never-sent');
    let frame: QueuedFrame | undefined;
    const pending = this.#calls.open(call, (aborted) => this.#outbox.cancel(aborted, frame));
    try {
      frame = this.#outbox.request(pending.request);
    } catch (error) {
      pending.fail(error);
    }
    return pending.outcome;
  }

  /**
   * The wire is going, whichever end of it was seen first. What is still in the pipe is delivered, so that an answer
   * given before the end is not lost; but a stranger who holds the pipe open delays nobody for long.
   */
  async #windDown(words: string): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#child.stdout.resume();
    const timeout = new AbortController();
    const tooLong = delay(this.#wire.outputDrainMs, undefined, { signal: timeout.signal }).catch(() => {});
    await Promise.race([this.#child.drained, tooLong]);
    timeout.abort();
    this.#lines.end();
    this.#finish({ text: 'The server process ended', reason: 'process-ended', words });
  }

  /** The child broke the rules beyond repair: it is ended at once. */
  #breach(reason: keyof typeof BREACHES, words: string): void {
    this.#child.stdout.destroy();
    this.#finish({ text: BREACHES[reason], reason, words, atOnce: true });
  }

  #finish({ text, reason, words, atOnce = false }: Ending): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const what = this.#exit ? describeExit(this.#exit) : words;
    const error = new GatewayError('server-unavailable', { text, reason, cause: new Error(what) });
    this.#lines.stop();
    this.#outbox.close();
    this.#slots.close(error);
    this.#calls.failAll(error);
    this.#log(reason, what);
    this.#stopped = this.#stop(atOnce);
    try {
      this.#wire.events.onClosed(what);
    } catch (thrown) {
      this.#wire.logger.error({ err: thrown }, 'the end of a server process could not be handled');
    }
  }

  async #stop(atOnce: boolean): Promise<void> {
    const gone = await this.#child.stop({ atOnce });
    await this.#wire.cleanUp();
    this.#untrack?.();
    if (!gone) this.#wire.logger.error('something of the process group of a server could not be killed');
  }

  #log(reason: string, what: string): void {
    const { logger } = this.#wire;
    if (reason === 'closed') logger.debug({ reason }, 'the server process is being stopped');
    else logger.warn({ reason, what, stderr: this.stderrTail }, 'the server process ended by itself');
  }
}

const BREACHES = {
  'message-too-large': 'The server sent a message over the size limit',
  'unread-answers': 'The server asked too much and read no answer',
} as const;

interface Ending {
  /** For clients. */
  readonly text: string;
  readonly reason: 'closed' | 'process-ended' | keyof typeof BREACHES;
  /** For the operator. */
  readonly words: string;
  readonly atOnce?: boolean;
}

function processEnded(words: string, reason = 'process-ended'): GatewayError {
  const text = 'The server process ended';
  return new GatewayError('server-unavailable', { text, reason, cause: new Error(words) });
}

function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`;
}
