// The conformance suite's tools that ask nothing of the client: kinds of content, errors, logging, progress, a
// stream that breaks off, changes of the lists, and what JSON Schema and `Mcp-Param-*` must survive.
import { setTimeout as delay } from 'node:timers/promises';
import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import type { EverythingChanges } from './everything-changes.ts';
import { AUDIO, embeddedText, IMAGE, textResult } from './everything-content.ts';

/** Long enough that two notifications cannot share one write, short enough for a test. */
const STEP_MS = 50;

/** Composition, conditions and anchors: what a gateway that re-emits a parsed schema would lose. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** `region` travels in a header too, where the client speaks HTTP. */
const HEADER_SCHEMA = {
  type: 'object' as const,
  properties: {
    region: { type: 'string' as const, 'x-mcp-header': 'Region' },
    level: { type: 'integer' as const },
  },
};

export function registerTools(server: McpServer, changes: EverythingChanges): void {
  registerContentTools(server);
  registerStreamTools(server);
  registerSchemaTools(server);
  changes.registerTools(server);
}

function registerContentTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Answers with text' }, () =>
    textResult('This is a simple text response for testing.'),
  );
  server.registerTool('test_image_content', { description: 'Answers with an image' }, () => ({
    content: [IMAGE],
  }));
  server.registerTool('test_audio_content', { description: 'Answers with audio' }, () => ({
    content: [AUDIO],
  }));
  server.registerTool('test_embedded_resource', { description: 'Answers with an embedded resource' }, () => ({
    content: [embeddedText('test://embedded-resource', 'This is an embedded resource content.')],
  }));
  server.registerTool('test_multiple_content_types', { description: 'Answers with three kinds' }, () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      IMAGE,
      embeddedText('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json'),
    ],
  }));
  server.registerTool('test_error_handling', { description: 'Always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
}

function registerStreamTools(server: McpServer): void {
  server.registerTool(
    'test_tool_with_logging',
    { description: 'Logs three lines while it runs' },
    async (ctx) => {
      await ctx.mcpReq.log('info', 'Tool execution started');
      await delay(STEP_MS);
      await ctx.mcpReq.log('info', 'Tool processing data');
      await delay(STEP_MS);
      await ctx.mcpReq.log('info', 'Tool execution completed');
      return textResult('Logged three lines.');
    },
  );
  server.registerTool(
    'test_logging_tool',
    { description: 'Logs one line where the caller wants logs' },
    async (ctx) => {
      await ctx.mcpReq.log('info', 'one line');
      return textResult('Logged, if a level was set.');
    },
  );
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Reports progress in three steps' },
    async (ctx) => {
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await delay(STEP_MS);
        await reportProgress(ctx, progress);
      }
      return textResult('Reported all progress.');
    },
  );
  server.registerTool('test_streaming_elicitation', { description: 'Streams nothing but its result' }, () =>
    textResult('No request of its own stands on this stream.'),
  );
  server.registerTool(
    'test_reconnection',
    { description: 'Drops its event stream before it answers' },
    async (ctx) => {
      ctx.http?.closeSSE?.();
      await delay(2 * STEP_MS);
      return textResult('Answered after the stream had been dropped.');
    },
  );
}

async function reportProgress(ctx: ServerContext, progress: number): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress, total: 100, message: `${progress} of 100` },
  });
}

function registerSchemaTools(server: McpServer): void {
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Has a schema with much of JSON Schema 2020-12',
      inputSchema: fromJsonSchema(RICH_SCHEMA),
    },
    (args) => textResult(JSON.stringify(args)),
  );
  server.registerTool(
    'test_x_mcp_header',
    {
      description: 'Has an argument that HTTP clients repeat in a header',
      inputSchema: fromJsonSchema<{ region?: string; level?: number }>(HEADER_SCHEMA),
    },
    ({ region }) => textResult(`region=${region ?? 'none'}`),
  );
}
