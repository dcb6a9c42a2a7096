// A server made with SDK v2: modern unless `SERVED_ERA` says otherwise, over stdio, or HTTP where `SERVED_OVER` says.
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Cancellations, greeting, noteText, WELCOME } from './sdk-features.ts';
import { announce } from './sdk-listen.ts';
import { type ServedEra, serveOverHttp, serveOverStdio } from './sdk-serve.ts';

const cancellations = new Cancellations();

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'sdk-v2', version: '1.0.0' },
    { instructions: 'A modern server.', capabilities: { logging: {} } },
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
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: greeting(name) } }],
  }));
  return server;
}

function registerTools(server: McpServer): void {
  const tagged = z.object({ tag: z.string() });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) =>
    textResult(text),
  );
  server.registerTool(
    'add',
    { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ ...textResult(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('count', { inputSchema: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step += 1) await reportProgress(ctx, step, to);
    return textResult(`counted to ${to}`);
  });
  server.registerTool('wait', { inputSchema: tagged }, async ({ tag }, ctx) => {
    await reportProgress(ctx, 1);
    await cancellations.waitForCancel(tag, ctx.mcpReq.signal);
    return textResult('cancelled, so nobody reads this');
  });
  server.registerTool('was_cancelled', { inputSchema: tagged }, async ({ tag }) =>
    textResult(String(await cancellations.wasCancelled(tag))),
  );
  server.registerTool('fail', {}, () => {
    throw new Error('failed as told');
  });
}

function registerQuestions(server: McpServer): void {
  server.registerTool('ask_name', {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'name');
    if (answer.kind === 'elicit') {
      return textResult(answer.action === 'accept' ? `Hello, ${answer.content?.name}!` : answer.action);
    }
    const requestedSchema = z.object({ name: z.string() });
    return inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: 'What is your name?', requestedSchema }) },
    });
  });
  server.registerTool('ask_model', {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'word');
    if (answer.kind === 'sampling') {
      const content = [answer.result.content].flat()[0];
      return textResult(content?.type === 'text' ? content.text : String(content?.type));
    }
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say one word.' } }];
    return inputRequired({
      inputRequests: { word: inputRequired.createMessage({ messages, maxTokens: 16 }) },
    });
  });
}

async function reportProgress(ctx: ServerContext, progress: number, total?: number): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, ...(total !== undefined && { total }) };
  await ctx.mcpReq.notify({ method: 'notifications/progress', params });
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

const era = (process.env.SERVED_ERA ?? 'modern') as ServedEra;
if (process.env.SERVED_OVER === 'http') {
  announce((await serveOverHttp(createServer, { era, port: Number(process.env.PORT ?? 0) })).url);
} else {
  await serveOverStdio(createServer, era);
}
