// The calls of one legacy session that are in flight.
import { readId } from '../../protocol/json-rpc.ts';
import { readJson } from '../../protocol/json-text.ts';
import { Stop } from '../../runtime/stop.ts';
import type { CallDeadline } from '../../servers/call-deadline.ts';
import type { CallOutput } from '../call-output.ts';
import type { EventStream } from './session-streams.ts';

/** One call of the client, as long as it runs. */
export interface SessionCall {
  readonly idText: string;
  readonly stream: EventStream;
  /** Aborts when the client cancels it or the session ends. */
  readonly stop: Stop;
  /** The server may ask the client something while this runs (tools/call, prompts/get, resources/read). */
  readonly mayAsk: boolean;
  /** The slug of the server that it is for; undefined where it is for all of a view. */
  readonly server: string | undefined;
  /** The server's own id of the task whose result this call waits for. */
  task?: string;
  /** The clock of the call at the server, once it has been sent. */
  clock?: Pick<CallDeadline, 'extend'>;
}

export type StartingCall = Pick<SessionCall, 'idText' | 'stream' | 'mayAsk' | 'server'>;

/** What the client meant when it took a call back: it gets no response. */
export class ClientCancelled extends Error {}

export class SessionCalls {
  /** Oldest first. */
  readonly #calls: SessionCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  start({ idText, ...more }: StartingCall): SessionCall {
    // A cancellation may spell the same id otherwise.
    const call = {
      idText: readId(readJson(idText))?.idText ?? idText,
      ...more,
      stop: new Stop(),
    };
    this.#calls.push(call);
    return call;
  }

  finish(call: SessionCall): void {
    const index = this.#calls.indexOf(call);
    if (index >= 0) this.#calls.splice(index, 1);
  }

  /** `notifications/cancelled`: ids may be used twice by careless clients, the newest is meant (F21). */
  cancel(idText: string, reason: string | undefined): void {
    const call = this.#calls.findLast((candidate) => candidate.idText === idText);
    call?.stop.abort(new ClientCancelled(reason ?? 'cancelled by the client'));
  }

  /** All of them, where their session is over. */
  abort(reason: unknown): void {
    for (const call of [...this.#calls]) call.stop.abort(reason);
  }

  /** Those for one server; those for all of a view where it is undefined. */
  at(server: string | undefined): SessionCall[] {
    return this.#calls.filter((call) => call.server === server);
  }

  /** A question, and its answer, are signs of life as progress is: a person needs time to answer. */
  extendClockOf(stream: CallOutput): void {
    for (const call of this.#calls) if (call.stream === stream) call.clock?.extend();
  }
}
