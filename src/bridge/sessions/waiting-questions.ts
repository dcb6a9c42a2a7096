// Questions of one session's server that name no call, and have no stream to go out on yet.
import { isSameId, type JsonRpcId } from '../../protocol/json-rpc.ts';
import type { QuestionOrigin, ServerQuestion } from './open-questions.ts';

interface Waiting {
  readonly question: ServerQuestion;
  readonly origin: QuestionOrigin;
  readonly timer: NodeJS.Timeout;
}

/** Of all sessions that nobody has asked anything: most. */
const NONE: readonly Waiting[] = [];

export class WaitingQuestions {
  readonly #patienceMs: number;
  /** Oldest first. */
  #waiting: readonly Waiting[] = NONE;

  /** @param patienceMs how long a question waits */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @param giveUp is called when patience is over; it refuses the question */
  add(question: ServerQuestion, origin: QuestionOrigin, giveUp: () => void): void {
    const timer = setTimeout(() => {
      this.#remove(waiting);
      giveUp();
    }, this.#patienceMs);
    const waiting: Waiting = { question, origin, timer };
    this.#waiting = [...this.#waiting, waiting];
  }

  /** Something changed: `place` takes a question that can go out now, and returns whether it did. */
  retry(place: (question: ServerQuestion, origin: QuestionOrigin) => boolean): void {
    for (const waiting of this.#waiting) {
      if (place(waiting.question, waiting.origin)) this.#remove(waiting);
    }
  }

  /** The server took it back before anybody was asked. */
  withdraw(id: JsonRpcId, origin: QuestionOrigin): void {
    for (const waiting of this.#waiting) {
      if (isSameId(waiting.question.request.id, id) && waiting.origin === origin) this.#remove(waiting);
    }
  }

  /** The session is over, and the link that asked with it. */
  close(): void {
    for (const waiting of this.#waiting) this.#remove(waiting);
  }

  #remove(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }
}
