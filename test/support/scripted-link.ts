// A link whose wire is the test itself: it shows what was sent, and answers only as it is told.

import type { Era } from '../../src/protocol/era.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import { LinkInbox, ServerLink } from '../../src/servers/server-link.ts';
import type { ServerMessage, ServerTransport, UpstreamCall } from '../../src/servers/transport.ts';

/** A request that went out; it stays open until it is answered, or aborted. */
export interface ScriptedCall extends UpstreamCall {
  answer(result?: JsonObject): void;
  refuse(code: number): void;
  fail(error: unknown): void;
}

export interface SentAnswer {
  readonly id: JsonRpcId;
  readonly outcome: JsonRpcOutcome;
}

export class ScriptedTransport implements ServerTransport {
  readonly kind: ServerTransport['kind'];
  readonly calls: ScriptedCall[] = [];
  readonly notices: JsonRpcNotification[] = [];
  /** To the server's own requests. */
  readonly answers: SentAnswer[] = [];
  open = true;
  readonly #inbox: LinkInbox;
  readonly #changed = new EventTarget();

  constructor(kind: ServerTransport['kind'], inbox: LinkInbox) {
    this.kind = kind;
    this.#inbox = inbox;
  }

  call(call: UpstreamCall): Promise<JsonRpcOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonRpcOutcome>();
    call.signal.addEventListener('abort', () => reject(call.signal.reason));
    this.calls.push({
      ...call,
      onMessage: (message) => call.onMessage(message),
      answer: (result = {}) => resolve({ result }),
      refuse: (code) => resolve({ error: { code, message: 'as the test wants' } }),
      fail: reject,
    });
    this.#changed.dispatchEvent(new Event('changed'));
    return promise;
  }

  async notify(message: JsonRpcNotification): Promise<void> {
    this.notices.push(message);
  }

  async respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    this.answers.push({ id, outcome });
    this.#changed.dispatchEvent(new Event('changed'));
  }

  setProtocolVersion(): void {}

  async close(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    for (const call of this.calls) call.fail(new Error('the wire is gone'));
    this.#inbox.onClosed('closed');
  }

  /** The nth call of that method, from 1 on, be it there already or still to come. */
  async nth(method: string, count = 1): Promise<ScriptedCall> {
    return this.#wait(() => this.calls.filter((call) => call.method === method)[count - 1]);
  }

  /** The nth answer to a request of the server. */
  async nthAnswer(count = 1): Promise<SentAnswer> {
    return this.#wait(() => this.answers[count - 1]);
  }

  async #wait<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise((resolve) => this.#changed.addEventListener('changed', resolve, { once: true }));
    }
  }
}

export interface ScriptedLinkOptions {
  readonly kind?: ServerTransport['kind'];
  readonly era?: Era;
  readonly version?: string;
  readonly capabilities?: JsonObject;
  onUnsolicited?(message: ServerMessage, link: ServerLink): void;
}

export interface ScriptedLink {
  readonly link: ServerLink;
  readonly wire: ScriptedTransport;
  /** The server says something that belongs to no call. */
  say(message: Omit<ServerMessage, 'jsonrpc'> & { id?: JsonRpcId }): void;
}

export function scriptedLink({
  kind = 'stdio',
  era = 'legacy',
  version = era === 'legacy' ? '2025-11-25' : '2026-07-28',
  capabilities = { tools: {}, logging: {}, resources: { subscribe: true } },
  onUnsolicited,
}: ScriptedLinkOptions = {}): ScriptedLink {
  const inbox = new LinkInbox();
  const wire = new ScriptedTransport(kind, inbox);
  const link = new ServerLink({
    transport: wire,
    peer: { era, version, capabilities, serverInfo: undefined, instructions: undefined },
    identity: { name: 'portico', title: 'Portico', version: '0' },
    limits: { callTimeoutMs: 10_000, maxCallTimeMs: 60_000 },
    inbox,
    ...(onUnsolicited === undefined ? {} : { onUnsolicited }),
    onClosed: () => {},
  });
  return {
    link,
    wire,
    say: (message) => inbox.onUnsolicited({ jsonrpc: '2.0', ...message } as ServerMessage),
  };
}
