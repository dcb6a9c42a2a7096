// What a client of the tests says when a server asks, the same in every SDK, and what it has heard so far.

/** Whatever a form wants to know. */
const FORM_ANSWERS: Readonly<Record<string, string>> = { name: 'Ada', color: 'green' };
export const USER_NAME = 'Ada';
export const MODEL_WORD = 'fjord';
export const ROOT_URI = 'file:///home/ada';

export const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};

export interface Heard {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Notifications, or questions, in the order in which they came. */
export class HeardMessages {
  readonly all: Heard[] = [];
  readonly #grew = new EventTarget();

  add({ method, params }: Heard): void {
    this.all.push({ method, params });
    this.#grew.dispatchEvent(new Event('message'));
  }

  of(method: string): Heard[] {
    return this.all.filter((message) => message.method === method);
  }

  /** The last message of that method, once there are `count`. Only a test's own time limit ends the wait. */
  async nth(method: string, count: number): Promise<Heard> {
    for (;;) {
      const found = this.of(method)[count - 1];
      if (found !== undefined) return found;
      await new Promise((resolve) => this.#grew.addEventListener('message', resolve, { once: true }));
    }
  }
}

/** Answers each question that a server may ask, and remembers it. */
export class Answers {
  readonly questions = new HeardMessages();

  elicitation(params: Readonly<Record<string, unknown>>): {
    action: 'accept';
    content?: Record<string, string>;
  } {
    this.questions.add({ method: 'elicitation/create', params });
    if (params.mode === 'url') return { action: 'accept' };
    const { properties = {} } = params.requestedSchema as { properties?: object };
    const content = Object.keys(properties).map((field) => [field, FORM_ANSWERS[field] ?? '']);
    return { action: 'accept', content: Object.fromEntries(content) };
  }

  sampling(params: Readonly<Record<string, unknown>>) {
    this.questions.add({ method: 'sampling/createMessage', params });
    const answer = { role: 'assistant' as const, model: 'test' };
    if (params.tools === undefined) {
      return { ...answer, content: { type: 'text' as const, text: MODEL_WORD } };
    }
    const use = { type: 'tool_use' as const, id: 'use-1', name: 'weather', input: {} };
    return { ...answer, stopReason: 'toolUse' as const, content: [use] };
  }

  roots(): { roots: { uri: string }[] } {
    this.questions.add({ method: 'roots/list' });
    return { roots: [{ uri: ROOT_URI }] };
  }
}
