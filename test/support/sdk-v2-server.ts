// A server made with SDK v2: modern unless `SERVED_ERA` says otherwise, over stdio, or HTTP where `SERVED_OVER` says.
import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { completeName, greeting, noteText, PROMPT_PAGES, WELCOME } from './sdk-features.ts';
import { announce } from './sdk-listen.ts';
import { type ServedEra, serveOverHttp, serveOverStdio } from './sdk-serve.ts';
import { registerQuestions, verifyState } from './sdk-v2-questions.ts';
import { ChangingTools, registerTools } from './sdk-v2-tools.ts';

const changes = new ChangingTools();

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'sdk-v2', version: '1.0.0' },
    {
      instructions: 'A modern server.',
      capabilities: { logging: {}, resources: { subscribe: true } },
      requestState: { verify: verifyState },
    },
  );
  registerTools(server);
  changes.registerTools(server);
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
  const argsSchema = z.object({ name, style: z.string().optional() });
  server.registerPrompt('greet', { argsSchema }, (args) => ({
    messages: [{ role: 'user', content: { type: 'text', text: greeting(args.name) } }],
  }));
  server.server.setRequestHandler('prompts/list', ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    const prompts = [{ name: PROMPT_PAGES[page] ?? '' }];
    return page + 1 < PROMPT_PAGES.length ? { prompts, nextCursor: String(page + 1) } : { prompts };
  });
}

const era = (process.env.SERVED_ERA ?? 'modern') as ServedEra;
if (process.env.SERVED_OVER === 'http') {
  const served = await serveOverHttp(createServer, { era, port: Number(process.env.PORT ?? 0) });
  changes.notify = served.notify;
  announce(served.url);
} else {
  await serveOverStdio(createServer, era);
}
