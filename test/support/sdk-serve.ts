// Serves a factory of SDK v2 servers over HTTP or stdio to clients of one era or of both.
import type { IncomingMessage } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import {
  classifyInboundRequest,
  createMcpHandler,
  type McpServerFactory,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { LegacySessions } from './sdk-legacy-sessions.ts';
import { listenOnLoopback } from './sdk-listen.ts';

export type ServedEra = 'dual' | 'modern' | 'legacy';

export interface ServedOverHttp {
  readonly url: string;
  /** Tells the modern clients that listen. */
  readonly notify: ServerNotifier;
}

export async function serveOverStdio(factory: McpServerFactory, era: ServedEra): Promise<void> {
  if (era === 'legacy') {
    // Wired by hand it knows nothing of the modern era, as a server of 2025.
    const server = await factory({ era: 'legacy' });
    await server.connect(new StdioServerTransport());
  } else {
    serveStdio(factory, { legacy: era === 'modern' ? 'reject' : 'serve' });
  }
}

/** Listens on 127.0.0.1; port 0 takes a free one. Lives as long as the process. */
export async function serveOverHttp(
  factory: McpServerFactory,
  { era, port }: { era: ServedEra; port: number },
): Promise<ServedOverHttp> {
  const sessions = new LegacySessions(async (options) => {
    const transport = new NodeStreamableHTTPServerTransport(options);
    const server = await factory({ era: 'legacy' });
    await server.connect(transport);
    return transport;
  });
  const modern = createMcpHandler(factory, { legacy: 'reject', onerror: () => {} });
  const serveModern = toNodeHandler(modern);
  const validHost = localhostHostValidation();
  const validOrigin = localhostOriginValidation();

  const origin = await listenOnLoopback(async (request, response, body) => {
    if (!validHost(request, response) || !validOrigin(request, response)) return;
    if (era === 'legacy' || (era === 'dual' && isLegacy(request, body))) {
      await sessions.handle(request, response, body);
    } else {
      // The SDK's type for a request knows no exact optional properties, so a plain one does not fit it.
      await serveModern(request as Parameters<typeof serveModern>[0], response, body);
    }
  }, port);
  return { url: `${origin}/mcp`, notify: modern.notify };
}

function isLegacy(request: IncomingMessage, body: unknown): boolean {
  const version = request.headers['mcp-protocol-version'];
  const method = request.headers['mcp-method'];
  const route = classifyInboundRequest({
    httpMethod: request.method ?? 'GET',
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof method === 'string' && { mcpMethodHeader: method }),
    body,
  });
  return route.kind === 'legacy';
}
