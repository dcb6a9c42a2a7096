// Servers over stdio that show one tool more to clients that can sample, and say so in their capabilities: in the old
// era by what the handshake declared (SDK v1), in the new one by what each request declares (SDK v2).
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const INFO = { name: 'sdk-shaping', version: '1.0.0' };
const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] });

async function serveLegacy(): Promise<void> {
  const server = new LegacyServer(INFO);
  server.registerTool('plain', {}, () => textResult('for everybody'));
  server.server.oninitialized = () => {
    if (server.server.getClientCapabilities()?.sampling === undefined) return;
    server.registerTool('summarize', {}, () => textResult('with your model'));
  };
  await server.connect(new StdioServerTransport());
}

function createModern(): McpServer {
  const server = new McpServer(INFO);
  server.registerTool('plain', {}, () => textResult('for everybody'));
  server.registerTool('summarize', {}, () => textResult('with your model'));
  server.server.setRequestHandler('tools/list', (_request, ctx) => {
    const names = canSample(ctx) ? ['plain', 'summarize'] : ['plain'];
    return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })) };
  });
  return server;
}

function canSample(ctx: ServerContext): boolean {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = ctx.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY]?.sampling !== undefined;
}

if (process.env.SERVED_ERA === 'legacy') await serveLegacy();
else serveStdio(createModern, { legacy: 'reject' });
