// What a tool of the faulty server is, and has to say something with.
export type RequestId = string | number;
export type Meta = Record<string, unknown>;
export interface Frame {
  id?: RequestId;
  method?: string;
  params?: Meta;
  result?: Meta;
  error?: { code: number; message: string; data?: unknown };
}

export interface ToolHost {
  readonly id: RequestId;
  /** The progress token of the request, as it came. */
  readonly token: unknown;
  readonly params: Meta;
  /** Every message that came in so far. */
  readonly received: readonly Frame[];
  send(frame: Frame): void;
  raw(text: string): void;
  onCancelled(listener: () => void): void;
  ask(questionId: RequestId, listener: (answer: Frame) => void): void;
  /** To every open subscription, tagged; untagged where there is none, as in the old era. */
  sendToListens(method: string, params?: Meta): void;
  endListens(gracefully: boolean): void;
  complete(result: Meta): void;
  fail(code: number, words: string): void;
}

export interface Tool {
  readonly description: string;
  run(host: ToolHost, args: Meta): void;
}

export function answer(host: ToolHost, text: string): void {
  host.complete({ content: [{ type: 'text', text }] });
}

export function progress(host: ToolHost, progressToken: unknown, value: number): void {
  host.send({ method: 'notifications/progress', params: { progressToken, progress: value } });
}
