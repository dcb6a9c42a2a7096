// A server of 2025-11-25, made with SDK v1, whose tools run as tasks only: over stdio, or Streamable HTTP with sessions
// where `SERVED_OVER` is http.
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { LegacySessions } from './sdk-legacy-sessions.ts';
import { announce, listenOnLoopback } from './sdk-listen.ts';

const REQUIRED = { taskSupport: 'required' } as const;

function createServer(): McpServer {
  const taskStore = new InMemoryTaskStore();
  const server = new McpServer(
    { name: 'sdk-tasks', version: '1.0.0' },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore,
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  /** Starts `work` as a task; what it resolves with is the result. */
  const asTask = (work: (taskId: string, args: Record<string, string>) => Promise<string>) => ({
    createTask: async (
      args: Record<string, string>,
      { taskStore: store }: Pick<TaskRequest, 'taskStore'>,
    ) => {
      const task = await store.createTask({ ttl: 60_000, pollInterval: 20 });
      void work(task.taskId, args).then((text) =>
        store.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text }] }),
      );
      return { task };
    },
    getTask: (_args: unknown, { taskId, taskStore: store }: TaskRequest) => store.getTask(taskId),
    getTaskResult: (_args: unknown, { taskId, taskStore: store }: TaskRequest) => store.getTaskResult(taskId),
  });
  const tasks = server.experimental.tasks;
  const inputSchema = { text: z.string() };
  tasks.registerToolTask(
    'shout',
    { inputSchema, execution: REQUIRED },
    asTask(async (_taskId, { text = '' }) => text.toUpperCase()) as never,
  );
  tasks.registerToolTask(
    'ask_name',
    { inputSchema, execution: REQUIRED },
    asTask(async (taskId, { text = '' }) => {
      const answer = await server.server.request(
        { method: 'elicitation/create', params: form(text) },
        ElicitResultSchema,
        { relatedTask: { taskId } },
      );
      return `${text} ${answer.content?.name ?? answer.action}`;
    }) as never,
  );
  tasks.registerToolTask(
    'never',
    { inputSchema, execution: REQUIRED },
    asTask(() => new Promise(() => {})) as never,
  );
  server.registerTool('statuses', {}, async () => {
    const { tasks: all } = await taskStore.listTasks();
    return { content: [{ type: 'text', text: JSON.stringify(all.map(({ status }) => status)) }] };
  });
  return server;
}

interface StoreOfRequest {
  createTask(options: { ttl: number; pollInterval: number }): Promise<{ taskId: string }>;
  getTask(taskId: string): Promise<unknown>;
  getTaskResult(taskId: string): Promise<unknown>;
  storeTaskResult(taskId: string, status: 'completed', result: object): Promise<void>;
}

interface TaskRequest {
  readonly taskId: string;
  readonly taskStore: StoreOfRequest;
}

function form(message: string) {
  const properties = { name: { type: 'string' as const } };
  return { mode: 'form' as const, message, requestedSchema: { type: 'object' as const, properties } };
}

if (process.env.SERVED_OVER === 'http') {
  const sessions = new LegacySessions(async (options) => {
    const transport = new StreamableHTTPServerTransport(options);
    await createServer().connect(transport);
    return transport;
  });
  announce(`${await listenOnLoopback(sessions.handle.bind(sessions), Number(process.env.PORT ?? 0))}/mcp`);
} else {
  await createServer().connect(new StdioServerTransport());
}
