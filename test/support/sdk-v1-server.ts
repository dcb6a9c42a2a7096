// A legacy server made with SDK v1, as most servers in the field are: stdio, or Streamable HTTP with sessions where
// `SERVED_OVER` is http.
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  ListPromptsRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { completeName, greeting, noteText, PROMPT_PAGES, WELCOME } from './sdk-features.ts';
import { LegacySessions } from './sdk-legacy-sessions.ts';
import { announce, listenOnLoopback } from './sdk-listen.ts';
import { registerQuestions } from './sdk-v1-questions.ts';
import { registerTools } from './sdk-v1-tools.ts';

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'sdk-v1', version: '1.0.0' },
    { instructions: 'A legacy server.', capabilities: { logging: {}, resources: { subscribe: true } } },
  );
  registerTools(server, acceptSubscriptions(server));
  registerQuestions(server);
  registerNotes(server);
  registerPrompts(server);
  return server;
}

function registerNotes(server: McpServer): void {
  const note = (uri: string, text: string) => ({ contents: [{ uri, mimeType: WELCOME.mimeType, text }] });
  server.registerResource('welcome', WELCOME.uri, { mimeType: WELCOME.mimeType }, () =>
    note(WELCOME.uri, WELCOME.text),
  );
  const template = new ResourceTemplate('note://{name}', {
    list: undefined,
    complete: { name: (typed) => completeName(typed, undefined) },
  });
  server.registerResource('note', template, {}, (uri, { name }) => note(uri.href, noteText(String(name))));
}

function registerPrompts(server: McpServer): void {
  const name = completable(z.string(), (typed, context) => completeName(typed, context?.arguments?.style));
  server.registerPrompt('greet', { argsSchema: { name, style: z.string().optional() } }, (args) => ({
    messages: [{ role: 'user', content: { type: 'text', text: greeting(args.name) } }],
  }));
  server.server.setRequestHandler(ListPromptsRequestSchema, ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    const prompts = [{ name: PROMPT_PAGES[page] ?? '' }];
    return page + 1 < PROMPT_PAGES.length ? { prompts, nextCursor: String(page + 1) } : { prompts };
  });
}

/** @returns what the one client is subscribed to */
function acceptSubscriptions({ server }: McpServer): ReadonlySet<string> {
  const subscribed = new Set<string>();
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return subscribed;
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
