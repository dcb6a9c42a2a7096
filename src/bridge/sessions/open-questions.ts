// Requests that servers have sent to one session's client: each goes out under an id of ours, and its answer goes
// back, once, to the link that asked.
import { isDeepStrictEqual } from 'node:util';
import {
  isSameId,
  type JsonRpcErrorObject,
  type JsonRpcId,
  type JsonRpcOutcome,
  type JsonRpcRequest,
} from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json-text.ts';
import { FleetingMap } from '../../runtime/fleeting-map.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { CallOutput } from '../call-output.ts';

export interface QuestionOrigin {
  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void>;
}

/** A request of a server as the client is to see it, but for its id. */
export interface ServerQuestion {
  readonly request: JsonRpcRequest;
  /** The slug of the server that asks. */
  readonly server: string;
  /** The task of the server that it belongs to, by the server's own id. */
  readonly task?: string | undefined;
  /** The client's result as the server is to have it. */
  readResult?(result: JsonObject): JsonObject;
}

interface OpenQuestion {
  readonly upstreamId: JsonRpcId;
  readonly origin: QuestionOrigin;
  /** Where the client saw it, and is told if it is withdrawn. */
  readonly stream: CallOutput;
  readonly readResult: ServerQuestion['readResult'];
  /** What the server wants to hear of progress under. */
  readonly progressToken: JsonValue | undefined;
}

export class OpenQuestions {
  readonly #open = new FleetingMap<JsonRpcId, OpenQuestion>();
  #next = 1;

  /** Remembers the question and mints the id that the client is to see. */
  open(
    {
      request,
      readResult,
    }: Pick<ServerQuestion, 'readResult'> & { request: Pick<JsonRpcRequest, 'id' | 'params'> },
    origin: QuestionOrigin,
    stream: CallOutput,
  ): JsonRpcId {
    const id = this.#next++;
    const meta = request.params?._meta;
    const progressToken = isJsonObject(meta) ? meta.progressToken : undefined;
    this.#open.set(id, { upstreamId: request.id, origin, stream, readResult, progressToken });
    return id;
  }

  /**
   * Asks the client something of Portico's own making and waits for its answer. An abort takes the question back
   * toward the client.
   *
   * @throws the signal's reason
   */
  async askAndWait(
    method: string,
    params: JsonObject | undefined,
    { stream, signal }: { stream: CallOutput; signal: StopSignal },
  ): Promise<JsonRpcOutcome> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<JsonRpcOutcome>();
    const origin: QuestionOrigin = { respond: async (_id, outcome) => resolve(outcome) };
    const id = this.open({ request: { id: '' } }, origin, stream);
    const onAbort = () => {
      this.withdraw('', origin);
      void stream.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    void stream.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** @returns where it was asked, or undefined for an answer to nothing */
  answer(id: JsonRpcId, outcome: JsonRpcOutcome): CallOutput | undefined {
    const question = this.#open.get(id);
    if (question === undefined) return undefined;
    this.#open.delete(id);
    const { origin, upstreamId, readResult } = question;
    const read =
      readResult === undefined || 'error' in outcome ? outcome : { result: readResult(outcome.result) };
    void origin.respond(upstreamId, read);
    return question.stream;
  }

  /** The server took a question back: its answer would go nowhere. Returns our id of it, and where it was asked. */
  withdraw(upstreamId: JsonRpcId, origin: QuestionOrigin): { id: JsonRpcId; stream: CallOutput } | undefined {
    for (const [id, question] of this.#open.entries()) {
      if (!isSameId(question.upstreamId, upstreamId) || question.origin !== origin) continue;
      this.#open.delete(id);
      return { id, stream: question.stream };
    }
    return undefined;
  }

  refuseAll(error: JsonRpcErrorObject): void {
    for (const [id] of this.#open.entries()) this.answer(id, { error });
  }

  /** Whether `origin` waits for an answer, and wants to hear of progress under that token. */
  wantsProgress(origin: QuestionOrigin, progressToken: JsonValue | undefined): boolean {
    if (progressToken === undefined) return false;
    return this.#open
      .values()
      .some(
        (question) => question.origin === origin && isDeepStrictEqual(question.progressToken, progressToken),
      );
  }

  get size(): number {
    return this.#open.size;
  }
}
