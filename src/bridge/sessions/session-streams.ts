// The event streams of one legacy session. Each event is numbered on its own stream and kept for a while, bounded,
// so that a client that lost its connection gets what that stream would have carried, and nothing of another
// (2025-11-25, transports, "Resumability and Redelivery"; F25).
import type { ServerAccess } from '../../access/rules/server-access.ts';
import type { JsonRpcOutcome, StreamMessage } from '../../protocol/json-rpc.ts';
import { readJson, writeJson } from '../../protocol/json-text.ts';
import { FleetingMap } from '../../runtime/fleeting-map.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { BufferBudget, Spare } from '../../state/buffer-budget.ts';
import type { CallOutput, StreamSink } from '../call-output.ts';

export interface ReplayLimits {
  readonly bytes: number;
  readonly forMs: number;
}

type Content =
  | { readonly message: StreamMessage }
  | { readonly idText: string; readonly outcome: JsonRpcOutcome };

/** As text: an object of many small values takes several times its size. */
interface LoggedEvent extends Spare {
  readonly stream: EventStream;
  readonly sequence: number;
  readonly text: string;
  readonly bytes: number;
  readonly loggedAt: number;
}

/** What an event takes besides its text. */
const EVENT_OVERHEAD_BYTES = 256;
const EVENT_ID = /^(\d{1,10})-(\d{1,10})$/;

export class SessionStreams {
  readonly #limits: ReplayLimits;
  readonly #streams = new FleetingMap<number, EventStream>();
  /** Oldest first. */
  readonly #log = new Set<LoggedEvent>();
  readonly #budget: BufferBudget;
  readonly #epoch: string;
  #loggedBytes = 0;
  #nextStream = 1;
  #closed = false;

  /** @param epoch begins every event id, so that none of another replica's streams of the session is taken for one here */
  constructor(limits: ReplayLimits, budget: BufferBudget, epoch = '') {
    this.#limits = limits;
    this.#budget = budget;
    this.#epoch = epoch;
  }

  eventId(stream: EventStream, sequence: number): string {
    return `${this.#epoch}${stream.id}-${sequence}`;
  }

  /** @param holds whether it keeps what is said while nobody has ever listened */
  open({ holds = false } = {}): EventStream {
    const stream = new EventStream(this.#nextStream++, this, holds);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** The stream and position that a `Last-Event-ID` names, if everything after it is still here. */
  find(lastEventId: string): { stream: EventStream; after: number } | undefined {
    if (!lastEventId.startsWith(this.#epoch)) return undefined;
    const [, streamId, sequence] = EVENT_ID.exec(lastEventId.slice(this.#epoch.length)) ?? [];
    const stream = this.#streams.get(Number(streamId));
    const after = Number(sequence);
    return stream?.holdsAllAfter(after) ? { stream, after } : undefined;
  }

  /** Events kept for one stream, oldest first. */
  eventsAfter(stream: EventStream, after: number): { sequence: number; content: Content }[] {
    return [...this.#log]
      .filter((event) => event.stream === stream && event.sequence > after)
      .map(({ sequence, text }) => ({ sequence, content: readJson(text) as Content }));
  }

  append(stream: EventStream, sequence: number, content: Content): void {
    if (this.#closed) return;
    const text = writeJson(content);
    const bytes = Buffer.byteLength(text);
    // A text is kept with one byte a character, or else with two.
    const textBytes = bytes === text.length ? bytes : 2 * text.length;
    const event: LoggedEvent = {
      stream,
      sequence,
      text,
      bytes,
      loggedAt: performance.now(),
      heldBytes: textBytes + EVENT_OVERHEAD_BYTES,
      giveUp: () => this.#drop(event),
    };
    this.#log.add(event);
    this.#loggedBytes += bytes;
    stream.logged += 1;
    this.prune();
    if (this.#log.has(event) && !this.#budget.keep(event)) this.#drop(event);
  }

  /** Gives up what is too old or too much. A stream that is over and has nothing left is forgotten. */
  prune(): void {
    const oldest = performance.now() - this.#limits.forMs;
    for (const event of this.#log) {
      if (event.loggedAt >= oldest && this.#loggedBytes <= this.#limits.bytes) break;
      this.#budget.release(event);
      this.#drop(event);
    }
  }

  /** Whoever asks for it from now on is told that it is gone. */
  #drop(event: LoggedEvent): void {
    const { stream, sequence, bytes } = event;
    this.#log.delete(event);
    this.#loggedBytes -= bytes;
    stream.droppedThrough = sequence;
    stream.logged -= 1;
    if (stream.over && stream.logged === 0) this.forget(stream);
  }

  /** Nobody can ask for the stream again: its client never learnt an event id, or nothing of it is left. */
  forget(stream: EventStream): void {
    this.#streams.delete(stream.id);
  }

  /** Streams that are open, or can still be asked for. */
  get size(): number {
    return this.#streams.size;
  }

  get loggedBytes(): number {
    return this.#loggedBytes;
  }

  /** The session is over: nobody comes back for anything, and a call's own stream ends with its answer. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams.values()) {
      if (!stream.owesAnswer) stream.end();
      this.forget(stream);
    }
    for (const event of this.#log) this.#budget.release(event);
    this.#log.clear();
    this.#loggedBytes = 0;
  }
}

export class EventStream implements CallOutput {
  readonly id: number;
  /** Events up to this one are gone from the log. */
  droppedThrough = 0;
  /** Events up to this one have been written to a connection, whether or not they arrived. */
  writtenThrough = 0;
  over = false;
  /** How many of its events are in the log. */
  logged = 0;
  /** Who may have what it said said again; what belongs to no call is judged message by message. */
  mayBeReread: (access: ServerAccess) => boolean = () => true;
  readonly #session: SessionStreams;
  readonly #holds: boolean;
  #sink: StreamSink | undefined;
  #lastSequence = 0;
  #knownToClient = false;

  constructor(id: number, session: SessionStreams, holds: boolean) {
    this.id = id;
    this.#session = session;
    this.#holds = holds;
  }

  /** It belongs to a call, which has not been answered. */
  get owesAnswer(): boolean {
    return !this.#holds && !this.over;
  }

  get attached(): boolean {
    return this.#sink !== undefined;
  }

  /** Whether a message ahead of the response can reach the client, now or when it comes back. */
  get carriesEvents(): boolean {
    return this.#sink?.accepts.events ?? !this.#lost;
  }

  /** Takes a number for the priming event, which carries no data and needs no log. */
  nextEventId(): string {
    this.#lastSequence += 1;
    return this.#session.eventId(this, this.#lastSequence);
  }

  /** Writes to `sink` from now on, until it is gone; a connection that was there before is ended. */
  attach(sink: StreamSink, gone: StopSignal): void {
    this.#sink?.end();
    this.#sink = sink;
    const detach = () => {
      if (this.#sink !== sink) return;
      this.#knownToClient ||= sink.committed;
      this.#sink = undefined;
    };
    if (gone.aborted) detach();
    else gone.addEventListener('abort', detach);
  }

  /** True if a client that saw `after` has missed nothing that is lost. */
  holdsAllAfter(after: number): boolean {
    return after <= this.#lastSequence && after >= this.droppedThrough;
  }

  /** Sends what was missed, then goes on live; ends at once where the stream is over. */
  resume(sink: StreamSink, gone: StopSignal, after: number): void {
    sink.openStream();
    this.#knownToClient = true;
    this.attach(sink, gone);
    for (const { sequence, content } of this.#session.eventsAfter(this, after)) {
      void this.#write(content, sequence);
    }
    if (this.over) sink.end();
  }

  send(message: StreamMessage): Promise<void> | undefined {
    return this.over || this.#lost ? undefined : this.#publish({ message });
  }

  respond(idText: string, outcome: JsonRpcOutcome, status: number): void {
    if (this.over) return;
    this.over = true;
    const sink = this.#sink;
    if (sink !== undefined && !sink.committed && sink.accepts.json) {
      sink.respond(idText, outcome, { status });
      this.#session.forget(this);
      return;
    }
    if (this.#lost) {
      this.#session.forget(this);
      return;
    }
    void this.#publish({ idText, outcome });
  }

  end(): void {
    this.over = true;
    if (this.logged === 0) this.#session.forget(this);
    this.#sink?.end();
    this.#sink = undefined;
  }

  /** Its client is gone, and has no event id to come back with. */
  get #lost(): boolean {
    return this.#sink === undefined && !this.#knownToClient && !this.#holds;
  }

  #publish(content: Content): Promise<void> | undefined {
    this.#lastSequence += 1;
    this.#session.append(this, this.#lastSequence, content);
    return this.#write(content, this.#lastSequence);
  }

  #write(content: Content, sequence: number): Promise<void> | undefined {
    const eventId = this.#session.eventId(this, sequence);
    if (this.#sink !== undefined) this.writtenThrough = sequence;
    if ('message' in content) return this.#sink?.send(content.message, eventId);
    this.#sink?.respond(content.idText, content.outcome, { eventId });
    return undefined;
  }
}
