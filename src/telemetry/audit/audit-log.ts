// The audit log: records go into a bounded queue, from there in batches to the file, in one chain. While nothing can
// be written, it says so, and calls that must be on record are refused (`audit.onFailure`).
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditConfig } from '../../config/audit-config.ts';
import { GatewayError } from '../../errors.ts';
import { writeJson } from '../../protocol/json-text.ts';
import { TurnBatch } from '../../runtime/turn-batch.ts';
import type { Logger } from '../logger.ts';
import { addToChain, CHAIN_START, type ChainHead } from './audit-chain.ts';
import { AuditFile } from './audit-file.ts';
import { createTextDigest, type TextDigest } from './text-digest.ts';
import { WaitingLines } from './waiting-lines.ts';

export interface AuditLogOptions {
  readonly config: AuditConfig;
  readonly version: string;
  readonly logger: Logger;
  /** Masks registered secrets in a finished record. */
  redact(text: string): string;
  onDropped(): void;
}

export interface AuditLog {
  /**
   * Takes the file up where its chain ends.
   *
   * @throws Error where it cannot be had: who wants a record of every call does not want to start without
   */
  open(): Promise<void>;
  /** @throws GatewayError audit-unavailable where calls must be on record and cannot be */
  requireWritable(): void;
  /** Queues a record; dropped, and counted, where the queue is full or the file not open yet. */
  write(record: object): void;
  /** The same of a record that is made when the turn of the event loop ends. */
  writeLater(make: () => object): void;
  readonly queued: number;
  readonly healthy: boolean;
  /** Writes what is queued, as far as that is possible, and gives the file up. */
  close(): Promise<void>;
}

/** Records that may wait; at some 700 bytes each this is a few megabytes. */
const MAX_QUEUED = 10_000;
const FLUSH_AFTER_MS = 100;
const RETRY_AFTER_MS = 1_000;
const HEAD_EVERY_MS = 60_000;
const CLOSING_TIMEOUT_MS = 2_000;

export function createAuditLog(options: AuditLogOptions): AuditLog {
  return new FileAuditLog(options);
}

class FileAuditLog implements AuditLog {
  readonly #options: AuditLogOptions;
  readonly #digest: TextDigest;
  readonly #closing = new AbortController();
  #file: AuditFile | undefined;
  /** Of what is on the disk. */
  #head: ChainHead = { seq: 0, hash: CHAIN_START };
  /** Of what waits, which is in the chain already: written again, it is the same. */
  #nextHead = this.#head;
  readonly #queue = new WaitingLines();
  readonly #unmade = new TurnBatch<() => object>((make) => this.write(make()));
  #flushing: Promise<void> | undefined;
  #healthy = false;
  /** Since the last record that was written. */
  #dropped = 0;
  #headTimer: NodeJS.Timeout | undefined;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#digest = createTextDigest(options.config.key);
  }

  get queued(): number {
    return this.#queue.count;
  }

  get healthy(): boolean {
    return this.#healthy && this.#queue.count < MAX_QUEUED;
  }

  async open(): Promise<void> {
    const { config, version } = this.#options;
    const { file, head, tornBytes } = await AuditFile.open(config.path);
    this.#file = file;
    this.#head = head ?? this.#head;
    this.#nextHead = this.#head;
    this.#healthy = true;
    // Where the log goes elsewhere, a tail that is cut off from the file shows there.
    this.#headTimer = setInterval(() => this.#tellHead(), HEAD_EVERY_MS).unref();
    this.write({ ...stamp(), kind: 'start', version, pid: process.pid });
    if (tornBytes > 0) this.write({ ...stamp(), kind: 'torn', bytes: tornBytes });
  }

  requireWritable(): void {
    if (this.healthy || this.#options.config.onFailure === 'continue') return;
    throw new GatewayError('audit-unavailable', { retryAfterMs: RETRY_AFTER_MS });
  }

  write(record: object): void {
    const file = this.#file;
    if (file === undefined || this.#queue.count >= MAX_QUEUED) {
      this.#dropped += 1;
      this.#options.onDropped();
      return;
    }
    this.#enqueue(record);
    this.#flushing ??= this.#flush(file).finally(() => {
      this.#flushing = undefined;
    });
  }

  writeLater(make: () => object): void {
    this.#unmade.add(make);
  }

  async close(): Promise<void> {
    this.#unmade.flush();
    const file = this.#file;
    if (file === undefined || this.#closing.signal.aborted) return;
    clearInterval(this.#headTimer);
    this.write({ ...stamp(), kind: 'stop' });
    this.#closing.abort();
    const patience = new AbortController();
    await Promise.race([this.#flushing, delay(CLOSING_TIMEOUT_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    this.#tellHead();
    if (this.#queue.count > 0) {
      this.#options.logger.error(
        { records: this.#queue.count },
        'audit records were lost: they could not be written',
      );
    }
    await file.close();
  }

  #enqueue(record: object): void {
    const text = this.#options.redact(writeJson(record));
    const { line, head } = addToChain(this.#nextHead, text, this.#digest);
    this.#queue.add(line);
    this.#nextHead = head;
  }

  /** One at a time, so that records stand in the order in which they came. */
  async #flush(file: AuditFile): Promise<void> {
    while (this.#queue.count > 0) {
      await this.#pause(FLUSH_AFTER_MS);
      try {
        await this.#writeQueue(file);
        this.#recovered();
      } catch (thrown) {
        this.#failed(thrown);
        if (this.#closing.signal.aborted) return;
        await this.#pause(RETRY_AFTER_MS);
      }
    }
  }

  async #writeQueue(file: AuditFile): Promise<void> {
    const batch = this.#queue.peek();
    const head = this.#nextHead;
    await file.append(batch.bytes);
    this.#queue.drop(batch);
    this.#head = head;
    const { maxBytes } = this.#options.config;
    if (maxBytes > 0 && file.bytes >= maxBytes) await this.#rotate(file);
  }

  /** A file that cannot be set aside grows on: that is no reason to lose a record. */
  async #rotate(file: AuditFile): Promise<void> {
    const suffix = `${new Date().toISOString().replaceAll(':', '-')}-${this.#head.seq}`;
    try {
      await file.rotate(suffix);
      this.#tellHead();
    } catch (thrown) {
      this.#options.logger.warn({ err: thrown }, 'the audit log could not be set aside');
    }
  }

  #failed(thrown: unknown): void {
    if (this.#healthy) this.#options.logger.error({ err: thrown }, 'the audit log cannot be written');
    this.#healthy = false;
  }

  #recovered(): void {
    if (!this.#healthy) this.#options.logger.info('the audit log is written again');
    this.#healthy = true;
    if (this.#dropped === 0) return;
    this.#enqueue({ ...stamp(), kind: 'gap', dropped: this.#dropped });
    this.#dropped = 0;
  }

  #tellHead(): void {
    this.#options.logger.info({ auditSeq: this.#head.seq, auditHead: this.#head.hash }, 'audit head');
  }

  #pause(durationMs: number): Promise<void> {
    return delay(durationMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
  }
}

/** What every record begins with. */
function stamp(): { time: string } {
  return { time: timeText(Date.now()) };
}

let latestSecond = Number.NaN;
let untilSecond = '';

/** A time as records have it, made of a text for each second: one for each record would cost several times as much. */
export function timeText(nowMs: number): string {
  const milliseconds = nowMs % 1_000;
  const second = nowMs - milliseconds;
  if (second !== latestSecond) {
    latestSecond = second;
    untilSecond = new Date(second).toISOString().slice(0, -'000Z'.length);
  }
  return `${untilSecond}${String(milliseconds).padStart(3, '0')}Z`;
}
