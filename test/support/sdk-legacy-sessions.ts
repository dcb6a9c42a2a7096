// Streamable HTTP with sessions and resumable streams, as the legacy revisions have it: one transport and one server
// object a session. Both SDKs leave this to be wired by hand, and their transports are of one shape.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/server';

/** What a client waits before it resumes a stream that broke off; short, as tests wait for it. */
const RETRY_MS = 100;

export interface SessionTransport {
  readonly sessionId?: string | undefined;
  onclose?: (() => void) | undefined;
  handleRequest(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  close(): Promise<void>;
}

export interface SessionTransportOptions {
  sessionIdGenerator(): string;
  onsessioninitialized(sessionId: string): void;
  eventStore: SessionEvents;
  retryInterval: number;
}

/** Makes a transport with these options and connects a server to it. */
export type OpenSession = (options: SessionTransportOptions) => Promise<SessionTransport>;

export class LegacySessions {
  readonly #openSession: OpenSession;
  readonly #transports = new Map<string, SessionTransport>();

  constructor(openSession: OpenSession) {
    this.#openSession = openSession;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const sessionId = request.headers['mcp-session-id'];
    if (typeof sessionId === 'string') {
      const transport = this.#transports.get(sessionId);
      if (transport === undefined) return refuse(response, 404, 'Session not found');
      return transport.handleRequest(request, response, body);
    }
    if (!isInitializeRequest(body)) return refuse(response, 400, 'Session id required');
    const transport = await this.#open();
    await transport.handleRequest(request, response, body);
  }

  async #open(): Promise<SessionTransport> {
    const transport = await this.#openSession({
      sessionIdGenerator: randomUUID,
      eventStore: new SessionEvents(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (sessionId) => {
        this.#transports.set(sessionId, transport);
      },
    });
    const onclose = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#transports.delete(transport.sessionId);
      onclose?.();
    };
    return transport;
  }
}

/** Keeps the messages of one session, in order; an event's id is its place in that order. */
class SessionEvents {
  readonly #events: { streamId: string; message: JSONRPCMessage }[] = [];

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ streamId, message }));
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events[Number(eventId) - 1]?.streamId;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = Number(lastEventId);
    const streamId = this.#events[last - 1]?.streamId;
    if (streamId === undefined) throw new Error('Unknown event id');
    for (const [index, event] of this.#events.entries()) {
      const isPriming = Object.keys(event.message).length === 0;
      if (index >= last && event.streamId === streamId && !isPriming)
        await send(String(index + 1), event.message);
    }
    return streamId;
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}
