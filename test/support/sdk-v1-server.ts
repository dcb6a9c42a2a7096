// A legacy server made with SDK v1, as most servers in the field are: stdio, or Streamable HTTP with sessions where
// `SERVED_OVER` is http.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { Cancellations, greeting, noteText, WELCOME } from './sdk-features.ts';
import { LegacySessions } from './sdk-legacy-sessions.ts';
import { announce, listenOnLoopback } from './sdk-listen.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const cancellations = new Cancellations();

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'sdk-v1', version: '1.0.0' },
    { instructions: 'A legacy server.', capabilities: { logging: {} } },
  );
  registerTools(server);
  registerQuestions(server);
  const note = (uri: string, text: string) => ({ contents: [{ uri, mimeType: WELCOME.mimeType, text }] });
  server.registerResource('welcome', WELCOME.uri, { mimeType: WELCOME.mimeType }, () =>
    note(WELCOME.uri, WELCOME.text),
  );
  server.registerResource(
    'note',
    new ResourceTemplate('note://{name}', { list: undefined }),
    {},
    (uri, { name }) => note(uri.href, noteText(String(name))),
  );
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: greeting(name) } }],
  }));
  return server;
}

function registerTools(server: McpServer): void {
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => textResult(text));
  server.registerTool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...textResult(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('count', { inputSchema: { to: z.number() } }, async ({ to }, extra) => {
    for (let step = 1; step <= to; step += 1) await reportProgress(extra, step, to);
    return textResult(`counted to ${to}`);
  });
  server.registerTool('wait', { inputSchema: { tag: z.string() } }, async ({ tag }, extra) => {
    await reportProgress(extra, 1);
    await cancellations.waitForCancel(tag, extra.signal);
    return textResult('cancelled, so nobody reads this');
  });
  server.registerTool('was_cancelled', { inputSchema: { tag: z.string() } }, async ({ tag }) =>
    textResult(String(await cancellations.wasCancelled(tag))),
  );
  server.registerTool('fail', {}, () => {
    throw new Error('failed as told');
  });
}

function registerQuestions(server: McpServer): void {
  server.registerTool('ask_name', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'What is your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return textResult(answer.action === 'accept' ? `Hello, ${answer.content?.name}!` : answer.action);
  });
  server.registerTool('ask_model', {}, async () => {
    const answer = await server.server.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Say one word.' } }],
      maxTokens: 16,
    });
    return textResult(answer.content.type === 'text' ? answer.content.text : answer.content.type);
  });
}

async function reportProgress(extra: Extra, progress: number, total?: number): Promise<void> {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, ...(total !== undefined && { total }) };
  await extra.sendNotification({ method: 'notifications/progress', params });
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

if (process.env.SERVED_OVER === 'http') {
  const sessions = new LegacySessions(async (options) => {
    const transport = new StreamableHTTPServerTransport(options);
    await createServer().connect(transport);
    return transport;
  });
  const handle = sessions.handle.bind(sessions);
  announce(`${await listenOnLoopback(handle, Number(process.env.PORT ?? 0))}/mcp`);
} else {
  await createServer().connect(new StdioServerTransport());
}
