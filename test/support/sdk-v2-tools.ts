// The tools of the SDK v2 server that ask nothing of the client.
import type { CallToolResult, McpServer, RegisteredTool, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Cancellations, LOG_LINES, OWN_META } from './sdk-features.ts';

const cancellations = new Cancellations();

export function registerTools(server: McpServer): void {
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
  server.registerTool('mirror', { _meta: { [OWN_META]: 'of the tool' } }, (ctx) => ({
    ...textResult(JSON.stringify(ctx.mcpReq._meta ?? {})),
    _meta: { [OWN_META]: 'of the result' },
    'x-own': { kept: true },
  }));
  server.registerTool('log', {}, async (ctx) => {
    for (const { level, data } of LOG_LINES) await ctx.mcpReq.log(level, data);
    return textResult('logged');
  });
}

/** Whom a change is told to where listeners are not bound to one server object. */
export interface ChangeNotifier {
  toolsChanged(): void;
  resourceUpdated(uri: string): void;
}

/** Tools that come and go. They belong to the process: over HTTP each request is served by an object of its own. */
export class ChangingTools {
  notify: ChangeNotifier | undefined;
  readonly #names = new Set<string>();

  registerTools(server: McpServer): void {
    const registered = new Map<string, RegisteredTool>();
    const add = (name: string) =>
      registered.set(
        name,
        server.registerTool(name, {}, () => textResult(`I am ${name}`)),
      );
    for (const name of this.#names) add(name);
    const named = { inputSchema: z.object({ name: z.string() }) };
    server.registerTool('add_tool', named, ({ name }) => {
      this.#names.add(name);
      add(name);
      this.notify?.toolsChanged();
      return textResult('added');
    });
    server.registerTool('remove_tool', named, ({ name }) => {
      this.#names.delete(name);
      registered.get(name)?.remove();
      this.notify?.toolsChanged();
      return textResult('removed');
    });
    server.registerTool('touch', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
      if (this.notify) this.notify.resourceUpdated(uri);
      else await server.server.sendResourceUpdated({ uri });
      return textResult('touched');
    });
  }
}

async function reportProgress(ctx: ServerContext, progress: number, total?: number): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, ...(total !== undefined && { total }) };
  await ctx.mcpReq.notify({ method: 'notifications/progress', params });
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
