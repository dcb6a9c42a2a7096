// The tools of the SDK v2 server that ask the client something, by `input_required`.
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { SIGN_UP_URL } from './sdk-features.ts';
import { textResult } from './sdk-v2-tools.ts';

const codec = createRequestStateCodec<{ name: string }>({ key: crypto.getRandomValues(new Uint8Array(32)) });
export const verifyState = codec.verify;

export function registerQuestions(server: McpServer): void {
  server.registerTool('ask_name', {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'name');
    if (answer.kind !== 'elicit') return ask({ name: form('What is your name?', 'name') });
    return textResult(answer.action === 'accept' ? `Hello, ${answer.content?.name}!` : answer.action);
  });
  server.registerTool('ask_model', {}, (ctx) =>
    textOrAsk(sampled(ctx, 'word')?.text, { word: sampling('Say one word.') }),
  );
  server.registerTool('ask_with_tools', {}, (ctx) => {
    const block = sampled(ctx, 'answer');
    const used = block?.type === 'tool_use' ? `use ${block.name}` : block?.type;
    return textOrAsk(used, { answer: sampling('Is it raining?', ['weather']) });
  });
  server.registerTool('ask_roots', {}, (ctx) => {
    if (declaredBy(ctx).roots === undefined) return textResult('refused');
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'roots');
    const uris = answer.kind === 'roots' ? answer.roots.map(({ uri }) => uri).join(' ') : undefined;
    return textOrAsk(uris, { roots: inputRequired.listRoots() });
  });
  server.registerTool('visit', {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'visit');
    const action = answer.kind === 'elicit' ? answer.action : undefined;
    const visit = inputRequired.elicitUrl({ message: 'Please sign up', url: SIGN_UP_URL });
    return textOrAsk(action, { visit });
  });
  server.registerTool('ask_twice', {}, async (ctx) => {
    const state = ctx.mcpReq.requestState<{ name: string }>();
    const color = stringAnswer(ctx, 'color');
    if (state !== undefined && color !== undefined) return textResult(`${state.name} likes ${color}`);
    const name = stringAnswer(ctx, 'name');
    if (name === undefined) return ask({ name: form('What is your name?', 'name') });
    return ask({ color: form(`Which color, ${name}?`, 'color') }, await codec.mint({ name }));
  });
  server.registerTool('ask_both', {}, (ctx) => {
    const name = stringAnswer(ctx, 'name');
    const word = sampled(ctx, 'word')?.text;
    const both = name === undefined || word === undefined ? undefined : `${name}: ${word}`;
    return textOrAsk(both, { name: form('What is your name?', 'name'), word: sampling('Say one word.') });
  });
}

function textOrAsk(text: string | undefined, inputRequests: Record<string, InputRequest>) {
  return text === undefined ? ask(inputRequests) : textResult(text);
}

function ask(inputRequests: Record<string, InputRequest>, requestState?: string) {
  return inputRequired({ inputRequests, ...(requestState !== undefined && { requestState }) });
}

function form(message: string, field: string): InputRequest {
  return inputRequired.elicit({ message, requestedSchema: z.object({ [field]: z.string() }) });
}

function sampling(text: string, tools: readonly string[] = []): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens: 16,
    ...(tools.length > 0 && {
      tools: tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }),
  });
}

function sampled(
  ctx: ServerContext,
  key: string,
): { type: string; text?: string; name?: string } | undefined {
  const answer = inputResponse(ctx.mcpReq.inputResponses, key);
  return answer.kind === 'sampling' ? [answer.result.content].flat()[0] : undefined;
}

function stringAnswer(ctx: ServerContext, key: string): string | undefined {
  const value = acceptedContent<Record<string, unknown>>(ctx.mcpReq.inputResponses, key)?.[key];
  return typeof value === 'string' ? value : undefined;
}

function declaredBy(ctx: ServerContext): ClientCapabilities {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = ctx.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
}
