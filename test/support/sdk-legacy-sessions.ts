// Streamable HTTP with sessions and resumable streams, as the legacy revisions have it: one transport and one server
// object a session, wired by hand as the SDK's own entry serves legacy clients without sessions only.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import {
  type EventStore,
  isInitializeRequest,
  type JSONRPCMessage,
  type McpServerFactory,
} from '@modelcontextprotocol/server';

/** What a client waits before it resumes a stream that broke off; short, as tests wait for it. */
const RETRY_MS = 100;

export class LegacySessions {
  readonly #factory: McpServerFactory;
  readonly #transports = new Map<string, NodeStreamableHTTPServerTransport>();

  constructor(factory: McpServerFactory) {
    this.#factory = factory;
  }

  /** Serves one request; `body` is its parsed JSON, undefined for GET and DELETE. */
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

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()));
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new MemoryEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (sessionId) => {
        this.#transports.set(sessionId, transport);
      },
    });
    const server = await this.#factory({ era: 'legacy' });
    await server.connect(transport);
    const close = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#transports.delete(transport.sessionId);
      close?.();
    };
    return transport;
  }
}

/** Keeps the messages of one session, in order; an event's id is its place in that order. */
class MemoryEventStore implements EventStore {
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
      if (index < last || event.streamId !== streamId || Object.keys(event.message).length === 0) continue;
      await send(String(index + 1), event.message);
    }
    return streamId;
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}
