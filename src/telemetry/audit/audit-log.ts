// The audit log: records go into a bounded queue, from there in batches to the file, in one chain. While nothing can
// be written, it says so, and calls that must be on record are refused (`audit.onFailure`).
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditConfig } from '../../config/audit-config.ts';
import { GatewayError } from '../../errors.ts';
import { writeJson } from '../../protocol/json-text.ts';
import { TurnBatch } from '../../runtime/turn-batch.ts';
import type { Logger } from '../logger.ts';
import { addToChain, CHAIN_START, type ChainHead } from './audit-chain.ts';
import { AuditFile } from './audit-file.ts';
import { createTextDigest, type TextDigest } from './text-digest.ts';

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
  /** Queues a record; dropped, and counted, where the queue is full. */
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
/** What a batch of a tenth of a second takes would hold up each call that comes meanwhile, by 4 ms under full load. */
const CHAINED_AT_ONCE = 50;
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
  #head: ChainHead = { seq: 0, hash: CHAIN_START };
  /** As texts: what waits outlives a collection of new objects or two, and a text is the least that can. */
  #queue: string[] = [];
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
    return this.#queue.length;
  }

  get healthy(): boolean {
    return this.#healthy && this.#queue.length < MAX_QUEUED;
  }

  async open(): Promise<void> {
    const { config, version } = this.#options;
    const { file, head, tornBytes } = await AuditFile.open(config.path);
    this.#file = file;
    this.#head = head ?? this.#head;
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
    if (this.#queue.length >= MAX_QUEUED) {
      this.#dropped += 1;
      this.#options.onDropped();
      return;
    }
    this.#queue.push(this.#textOf(record));
    const file = this.#file;
    if (file === undefined) return;
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
    if (this.#queue.length > 0) {
      this.#options.logger.error(
        { records: this.#queue.length },
        'audit records were lost: they could not be written',
      );
    }
    await file.close();
  }

  /** One at a time, so that records stand in the order in which they came. */
  async #flush(file: AuditFile): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#pause(FLUSH_AFTER_MS);
      const batch = this.#queue.slice();
      try {
        await this.#append(file, batch);
        this.#queue = this.#queue.slice(batch.length);
        this.#recovered();
      } catch (thrown) {
        this.#failed(thrown);
        if (this.#closing.signal.aborted) return;
        await this.#pause(RETRY_AFTER_MS);
      }
    }
  }

  /** The chain goes on only when all of it is on the disk. */
  async #append(file: AuditFile, batch: readonly string[]): Promise<void> {
    const { config } = this.#options;
    let head = this.#head;
    // Each for itself: one text of all of them takes as long again as their hashes.
    const lines: Buffer[] = [];
    for (const record of batch) {
      const link = addToChain(head, record, this.#digest);
      lines.push(Buffer.from(`${link.line}\n`));
      head = link.head;
      if (lines.length % CHAINED_AT_ONCE === 0) await nextTurn();
    }
    await file.append(Buffer.concat(lines));
    this.#head = head;
    if (config.maxBytes > 0 && file.bytes >= config.maxBytes) await this.#rotate(file);
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

  #textOf(record: object): string {
    return this.#options.redact(writeJson(record));
  }

  #failed(thrown: unknown): void {
    if (this.#healthy) this.#options.logger.error({ err: thrown }, 'the audit log cannot be written');
    this.#healthy = false;
  }

  #recovered(): void {
    if (!this.#healthy) this.#options.logger.info('the audit log is written again');
    this.#healthy = true;
    if (this.#dropped === 0) return;
    this.#queue.push(this.#textOf({ ...stamp(), kind: 'gap', dropped: this.#dropped }));
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
