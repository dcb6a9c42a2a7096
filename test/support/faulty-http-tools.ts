// The tools of the faulty HTTP server: what a call asks of it, well-behaved or not. What goes wrong below the messages
// (statuses, framing, connections) is a fault of the server: see faulty-http-server.ts.
import type { IncomingHttpHeaders } from 'node:http';
import { nextRound } from './faulty-rounds.ts';

export type RequestId = string | number;
export type Members = Record<string, unknown>;
export interface Message {
  jsonrpc: '2.0';
  id?: RequestId | null;
  method?: string;
  params?: Members;
  result?: Members;
  error?: { code: number; message: string; data?: unknown };
}

/** One `tools/call`, as the tool sees it. */
export interface ToolHost {
  readonly id: RequestId;
  readonly params: Members;
  readonly modern: boolean;
  /** The headers of the POST that brought the call. */
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller closes the exchange, or cancels it with a notification. */
  readonly gone: AbortSignal;
  /** A message ahead of the answer, on the call's own stream. */
  send(message: Omit<Message, 'jsonrpc'>): void;
  /** Asks the client, in the old era, and resolves with its answer. */
  ask(method: string, params: Members): Promise<Message>;
}

type Answer = Pick<Message, 'result'> | Pick<Message, 'error'> | Message;
interface Tool {
  readonly description: string;
  run(host: ToolHost, args: Members): Answer | Promise<Answer>;
}

const TOOL_TABLE: Readonly<Record<string, Tool>> = {
  echo: {
    description: 'Answers with `text`.',
    run: (_host, args) => text(String(args.text ?? '')),
  },
  wait: {
    description: 'Answers after `ms`, unless the caller has gone.',
    run: (host, args) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(text('waited')), Number(args.ms));
        host.gone.addEventListener('abort', () => clearTimeout(timer));
      }),
  },
  never: {
    description: 'Never answers.',
    run: () => new Promise(() => {}),
  },
  progress: {
    description: 'Reports `steps` (default 3) steps, `everyMs` apart, under `token` if given, then answers.',
    async run(host, args) {
      const meta = (host.params._meta ?? {}) as Members;
      const progressToken = args.token ?? meta.progressToken;
      for (let step = 1; step <= Number(args.steps ?? 3) && !host.gone.aborted; step += 1) {
        if (args.everyMs !== undefined) await new Promise((next) => setTimeout(next, Number(args.everyMs)));
        host.send({ method: 'notifications/progress', params: { progressToken, progress: step } });
      }
      return text('done');
    },
  },
  log: {
    description: 'Sends a log notification with `data`, then answers.',
    run(host, args) {
      host.send({ method: 'notifications/message', params: { level: 'info', data: args.data ?? 'hello' } });
      return text('logged');
    },
  },
  headers: {
    description: 'Answers with the headers of its request.',
    run: (host) => text(JSON.stringify(host.headers)),
  },
  'protocol-error': {
    description: 'Answers with a JSON-RPC error of `code`, and `data` if there is any.',
    run: (_host, { code, data }) => ({
      error: { code: Number(code), message: 'as you wish', ...(data === undefined ? {} : { data }) },
    }),
  },
  big: {
    description: 'Answers with a text of `bytes`.',
    run: (_host, args) => text('x'.repeat(Number(args.bytes))),
  },
  'string-id': {
    description: 'Answers under its id as a string.',
    run: (host) => ({ jsonrpc: '2.0', id: String(host.id), ...text('by string') }),
  },
  'foreign-id': {
    description: 'Answers only under the id of a request that nobody made.',
    run: () => ({ jsonrpc: '2.0', id: 987_654, ...text('for someone else') }),
  },
  'bad-answer': {
    description: 'Answers with neither a result nor an error.',
    run: (host) => ({ jsonrpc: '2.0', id: host.id }) as Message,
  },
  rounds: {
    description: 'New era: asks each of `rounds` in turn, the last for ever if `endless`, then answers.',
    run({ params }, args) {
      const result = nextRound(params, args);
      return result === undefined ? text(JSON.stringify(params.inputResponses ?? null)) : { result };
    },
  },
  ask: {
    description:
      'Asks the client `method` with `params`, then answers with what it said: in either era. In the old one after a ' +
      'report of progress and a log line if `busy`, with a failure if `strict` and it was refused; after `thinkMs`, and ' +
      'again so long after the answer.',
    async run(host, args) {
      const method = String(args.method ?? 'elicitation/create');
      const params = (args.params ?? {
        mode: 'form',
        message: 'Your name?',
        requestedSchema: SCHEMA,
      }) as Members;
      if (!host.modern) {
        const think = async () => {
          if (args.thinkMs !== undefined) await new Promise((next) => setTimeout(next, Number(args.thinkMs)));
        };
        await think();
        const { result, error } = await host.ask(method, params);
        await think();
        if (args.busy) {
          const { progressToken } = (host.params._meta ?? {}) as Members;
          host.send({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
          host.send({ method: 'notifications/message', params: { level: 'info', data: 'answered' } });
        }
        const answered = text(JSON.stringify(result ?? error));
        return args.strict && error ? { result: { ...answered.result, isError: true } } : answered;
      }
      const { inputResponses, requestState } = host.params;
      if (inputResponses !== undefined) return text(JSON.stringify({ inputResponses, requestState }));
      const result = {
        resultType: 'input_required',
        inputRequests: { q: { method, params } },
        requestState: 's1',
      };
      return { result };
    },
  },
};

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } };

export const FAULTY_TOOLS = Object.entries(TOOL_TABLE).map(([name, { description }]) => ({
  name,
  description,
  inputSchema: { type: 'object' },
}));

export async function runFaultyTool(host: ToolHost): Promise<Message> {
  const tool = TOOL_TABLE[String(host.params.name)];
  const answer = tool
    ? await tool.run(host, (host.params.arguments ?? {}) as Members)
    : { error: { code: -32602, message: 'no such tool' } };
  return { jsonrpc: '2.0', id: host.id, ...answer };
}

function text(words: string): { result: Members } {
  return { result: { content: [{ type: 'text', text: words }] } };
}
