// The tools of the SDK v1 server that ask nothing of the client.
import type { McpServer, RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { Cancellations, linesFrom, OWN_META } from './sdk-features.ts';

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const cancellations = new Cancellations();

/** @param subscribed the resources that the client is subscribed to */
export function registerTools(server: McpServer, subscribed: ReadonlySet<string>): void {
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
  server.registerTool('mirror', { _meta: { [OWN_META]: 'of the tool' } }, (extra) => ({
    ...textResult(JSON.stringify(extra._meta ?? {})),
    _meta: { [OWN_META]: 'of the result' },
    'x-own': { kept: true },
  }));
  registerLog(server);
  registerChanges(server, subscribed);
}

function registerLog(server: McpServer): void {
  let level = 'debug';
  server.server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  server.registerTool('log', {}, async (extra) => {
    for (const params of linesFrom(level)) {
      await extra.sendNotification({ method: 'notifications/message', params });
    }
    return textResult('logged');
  });
}

function registerChanges(server: McpServer, subscribed: ReadonlySet<string>): void {
  const added = new Map<string, RegisteredTool>();
  const named = { inputSchema: { name: z.string() } };
  server.registerTool('add_tool', named, ({ name }) => {
    added.set(
      name,
      server.registerTool(name, {}, () => textResult(`I am ${name}`)),
    );
    return textResult('added');
  });
  server.registerTool('remove_tool', named, ({ name }) => {
    added.get(name)?.remove();
    added.delete(name);
    return textResult('removed');
  });
  server.registerTool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
    if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    return textResult('touched');
  });
}

async function reportProgress(extra: Extra, progress: number, total?: number): Promise<void> {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, ...(total !== undefined && { total }) };
  await extra.sendNotification({ method: 'notifications/progress', params });
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
