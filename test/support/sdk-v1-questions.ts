// The tools of the SDK v1 server that ask the client something: some on the call's own stream, some beside it.
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CreateMessageResultWithToolsSchema,
  type ElicitRequestFormParams,
  type ElicitResult,
  ElicitResultSchema,
  ListRootsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { SIGN_UP_URL } from './sdk-features.ts';
import { type Extra, textResult } from './sdk-v1-tools.ts';

export function registerQuestions(server: McpServer): void {
  // These two are sent by the server object, so over HTTP they go out on its own stream, not on the call's.
  server.registerTool('ask_name', {}, async () => {
    const answer = await server.server.elicitInput(form('What is your name?', 'name'));
    return textResult(answer.action === 'accept' ? `Hello, ${answer.content?.name}!` : answer.action);
  });
  server.registerTool('ask_model', {}, async () => {
    const answer = await server.server.createMessage(sampling('Say one word.'));
    return textResult(answer.content.type === 'text' ? answer.content.text : answer.content.type);
  });
  server.registerTool('ask_with_tools', {}, async (extra) => {
    const tools = [{ name: 'weather', inputSchema: { type: 'object' as const } }];
    const params = { ...sampling('Is it raining?'), tools };
    const answer = await extra.sendRequest(
      { method: 'sampling/createMessage', params },
      CreateMessageResultWithToolsSchema,
    );
    const [block] = [answer.content].flat();
    return textResult(block?.type === 'tool_use' ? `use ${block.name}` : String(block?.type));
  });
  server.registerTool('ask_roots', {}, async (extra) => {
    try {
      const { roots } = await extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema);
      return textResult(roots.map(({ uri }) => uri).join(' '));
    } catch {
      return textResult('refused');
    }
  });
  server.registerTool('visit', {}, async (extra) => {
    const elicitationId = 'visit-1';
    const params = { mode: 'url' as const, message: 'Please sign up', url: SIGN_UP_URL, elicitationId };
    const answer = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
    await extra.sendNotification({ method: 'notifications/elicitation/complete', params: { elicitationId } });
    return textResult(answer.action);
  });
  server.registerTool('ask_twice', {}, async (extra) => {
    const name = await elicit(extra, form('What is your name?', 'name'));
    const color = await elicit(extra, form(`Which color, ${name.content?.name}?`, 'color'));
    return textResult(`${name.content?.name} likes ${color.content?.color}`);
  });
  server.registerTool('ask_both', {}, async (extra) => {
    const params = sampling('Say one word.');
    const [name, word] = await Promise.all([
      elicit(extra, form('What is your name?', 'name')),
      extra.sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultWithToolsSchema),
    ]);
    const [block] = [word.content].flat();
    return textResult(`${name.content?.name}: ${block?.type === 'text' ? block.text : block?.type}`);
  });
}

function elicit(extra: Extra, params: ElicitRequestFormParams): Promise<ElicitResult> {
  return extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
}

function form(message: string, field: string): ElicitRequestFormParams {
  return {
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  };
}

function sampling(text: string) {
  return {
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
    maxTokens: 16,
  };
}
