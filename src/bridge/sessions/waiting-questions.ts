// Questions of one session's server that name no call, and have no stream to go out on yet.
import { isSameId, type JsonRpcId } from '../../protocol/json-rpc.ts';
import type { QuestionOrigin, ServerQuestion } from './open-questions.ts';

interface Waiting {
  readonly origin: QuestionOrigin;
  readonly timer: NodeJS.Timeout;
}

export class WaitingQuestions {
  readonly #patienceMs: number;
  readonly #waiting = new Map<ServerQuestion, Waiting>();

  /** @param patienceMs how long a question waits */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** @param giveUp is called when patience is over; it refuses the question */
  add(question: ServerQuestion, origin: QuestionOrigin, giveUp: () => void): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(question);
      giveUp();
    }, this.#patienceMs);
    this.#waiting.set(question, { origin, timer });
  }

  /** Something changed: `place` takes a question that can go out now, and returns whether it did. */
  retry(place: (question: ServerQuestion, origin: QuestionOrigin) => boolean): void {
    for (const [question, { origin, timer }] of this.#waiting) {
      if (!place(question, origin)) continue;
      clearTimeout(timer);
      this.#waiting.delete(question);
    }
  }

  /** The server took it back before anybody was asked. */
  withdraw(id: JsonRpcId, origin: QuestionOrigin): void {
    for (const [question, waiting] of this.#waiting) {
      if (!isSameId(question.request.id, id) || waiting.origin !== origin) continue;
      clearTimeout(waiting.timer);
      this.#waiting.delete(question);
    }
  }

  /** The session is over, and the link that asked with it. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
