// The tools of the faulty server: each misbehaves in one way, as its description says, in the call that asks for it.
import { closeSync } from 'node:fs';
import { nextRound } from './faulty-rounds.ts';

export type RequestId = string | number;
export type Meta = Record<string, unknown>;
export interface Frame {
  id?: RequestId;
  method?: string;
  params?: Meta;
  result?: Meta;
  error?: { code: number; message: string; data?: unknown };
}

export interface ToolHost {
  readonly id: RequestId;
  /** The progress token of the request, as it came. */
  readonly token: unknown;
  readonly params: Meta;
  /** Every message that came in so far. */
  readonly received: readonly Frame[];
  send(frame: Frame): void;
  raw(text: string): void;
  onCancelled(listener: () => void): void;
  ask(questionId: RequestId, listener: (answer: Frame) => void): void;
  /** To every open subscription, tagged; untagged where there is none, as in the old era. */
  sendToListens(method: string, params?: Meta): void;
  endListens(gracefully: boolean): void;
  complete(result: Meta): void;
  fail(code: number, words: string): void;
}

interface Tool {
  readonly description: string;
  run(host: ToolHost, args: Meta): void;
}

const tools: Record<string, Tool> = {
  echo: {
    description: 'Answers with `text`. Well-behaved.',
    run: (host, args) => answer(host, String(args.text ?? '')),
  },
  wait: {
    description: 'Answers after `ms`, unless it is cancelled first.',
    run(host, args) {
      const timer = setTimeout(() => answer(host, 'waited'), Number(args.ms));
      host.onCancelled(() => clearTimeout(timer));
    },
  },
  never: { description: 'Never answers.', run: () => {} },
  'late-answer': {
    description: 'Answers only once it has been cancelled, with a late progress notification besides.',
    run(host) {
      host.onCancelled(() => {
        progress(host, host.token, 99);
        answer(host, 'too late');
      });
    },
  },
  progress: {
    description: 'Reports each of `values` (default 1, 2, 3), then answers.',
    run(host, args) {
      for (const value of (args.values as number[]) ?? [1, 2, 3]) progress(host, host.token, value);
      answer(host, 'done');
    },
  },
  'invented-progress': {
    description: 'Reports progress under `token`, which nobody gave, then answers.',
    run(host, args) {
      progress(host, args.token, 1);
      answer(host, 'done');
    },
  },
  'progress-after-answer': {
    description: 'Answers, then reports progress.',
    run(host) {
      answer(host, 'done');
      progress(host, host.token, 1);
    },
  },
  'answer-twice': {
    description: 'Answers twice.',
    run(host) {
      answer(host, 'first');
      host.send({ id: host.id, result: { content: [{ type: 'text', text: 'second' }] } });
    },
  },
  'string-id': {
    description: 'Answers under its id as a string.',
    run: (host) => host.send({ id: String(host.id), result: { content: [] } }),
  },
  'foreign-id': {
    description: 'First answers a request that nobody made (`id`), then its own.',
    run(host, args) {
      host.send({ id: args.id as RequestId, result: { content: [] } });
      answer(host, 'own');
    },
  },
  'bad-answer': {
    description: 'Answers with neither a result nor an error that is one.',
    run: (host) => host.raw(`{"jsonrpc":"2.0","id":${JSON.stringify(host.id)},"result":null}\n`),
  },
  'protocol-error': {
    description: 'Answers with a JSON-RPC error of `code`.',
    run: (host, args) => host.fail(Number(args.code), 'as you wish'),
  },
  deep: {
    description: 'Answers with `levels` of nested arrays (default 100000).',
    run(host, args) {
      const levels = Number(args.levels ?? 100_000);
      const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`;
      host.raw(`{"jsonrpc":"2.0","id":${JSON.stringify(host.id)},"result":{"deep":${nested}}}\n`);
    },
  },
  big: {
    description: 'Answers with a text of `bytes` (default 1 MiB).',
    run: (host, args) => answer(host, 'x'.repeat(Number(args.bytes ?? 1024 * 1024))),
  },
  endless: {
    description: 'Writes a line that never ends.',
    run(host) {
      const block = 'x'.repeat(64 * 1024);
      const more = () => {
        host.raw(block);
        setImmediate(more);
      };
      more();
    },
  },
  'answer-then-endless': {
    description: 'Its answer and `bytes` of an unfinished line in one write.',
    run(host, args) {
      const own = JSON.stringify({ jsonrpc: '2.0', id: host.id, result: { content: [] } });
      host.raw(`${own}\n${'x'.repeat(Number(args.bytes))}`);
    },
  },
  raw: {
    description:
      'Writes `text` to standard output as it is, `$ID` being the id of the call; answers if `answer`.',
    run(host, args) {
      host.raw(String(args.text).replaceAll('$ID', JSON.stringify(host.id)));
      if (args.answer) answer(host, 'after raw');
    },
  },
  flood: {
    description: 'Sends `count` log notifications, then answers.',
    run(host, args) {
      for (let i = 0; i < Number(args.count); i += 1) {
        host.send({ method: 'notifications/message', params: { level: 'info', data: i } });
      }
      answer(host, 'flooded');
    },
  },
  stderr: {
    description:
      'Writes `bytes` to stderr in lines of `line` bytes (0: none ends), and answers when all is read.',
    run(host, args) {
      const line = Number(args.line ?? 80);
      const bytes = Number(args.bytes ?? 256 * 1024);
      const text =
        line === 0 ? 'e'.repeat(bytes) : `${'e'.repeat(line - 1)}\n`.repeat(Math.ceil(bytes / line));
      process.stderr.write(String(args.text ?? '') + text, () => answer(host, 'wrote'));
    },
  },
  environment: {
    description: 'Answers with its environment, arguments, working directory, pid and process group.',
    run: (host) =>
      answer(
        host,
        JSON.stringify({
          env: process.env,
          argv: process.argv.slice(2),
          cwd: process.cwd(),
          pid: process.pid,
        }),
      ),
  },
  received: {
    description: 'Answers with every message that it has received.',
    run: (host) => answer(host, JSON.stringify(host.received)),
  },
  log: {
    description: 'A log notification, then the answer.',
    run(host, args) {
      host.send({
        method: 'notifications/message',
        params: { level: 'info', data: args.data ?? 'hello' },
      });
      answer(host, 'logged');
    },
  },
  'list-changed': {
    description: 'Says that the tools changed, to all subscriptions, then answers.',
    run(host) {
      host.sendToListens('notifications/tools/list_changed');
      answer(host, 'said');
    },
  },
  updated: {
    description: 'Says that the resource `uri` changed, to all subscriptions, then answers.',
    run(host, args) {
      host.sendToListens('notifications/resources/updated', { uri: args.uri });
      answer(host, 'said');
    },
  },
  'end-listens': {
    description: 'Ends all subscriptions, with a result if `gracefully`, then answers.',
    run(host, args) {
      host.endListens(args.gracefully === true);
      answer(host, 'ended');
    },
  },
  ask: {
    description:
      'Old era: asks the client `method` with `params` under `id`, answers with what it said: after a report of ' +
      'progress and a log line if `busy`, with a failure if `strict` and it was refused.',
    run(host, args) {
      const id = (args.id as RequestId | undefined) ?? `ask-${host.id}`;
      host.ask(id, ({ result, error }) => {
        if (args.busy) {
          progress(host, host.token, 1);
          host.send({ method: 'notifications/message', params: { level: 'info', data: 'answered' } });
        }
        const content = [{ type: 'text', text: JSON.stringify(result ?? error) }];
        host.complete({ content, ...(args.strict && error ? { isError: true } : {}) });
      });
      host.send({ id, method: String(args.method ?? 'roots/list'), params: (args.params as Meta) ?? {} });
    },
  },
  'ask-when-cancelled': {
    description: 'Old era: asks the client under `id` once it has been cancelled.',
    run(host, args) {
      host.onCancelled(() => {
        host.send({
          id: args.id as RequestId,
          method: 'elicitation/create',
          params: { message: 'too late' },
        });
      });
    },
  },
  'ask-and-withdraw': {
    description: 'Old era: asks the client under `id`, takes the question back, then answers.',
    run(host, args) {
      const id = args.id as RequestId;
      host.send({ id, method: 'elicitation/create', params: { message: 'well?' } });
      host.send({ method: 'notifications/cancelled', params: { requestId: id } });
      answer(host, 'withdrawn');
    },
  },
  'input-required': {
    description: 'New era: asks for a name by input_required; the retry is answered with what it brought.',
    run(host) {
      const { inputResponses, requestState } = host.params;
      if (inputResponses !== undefined) {
        answer(host, JSON.stringify({ inputResponses, requestState }));
        return;
      }
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
      const params = { mode: 'form', message: 'Your name?', requestedSchema };
      const result = {
        resultType: 'input_required',
        inputRequests: { name: { method: 'elicitation/create', params } },
        requestState: 'faulty-state-1',
      };
      host.complete(result);
    },
  },
  rounds: {
    description: 'New era: asks each of `rounds` in turn, the last for ever if `endless`, then answers.',
    run(host, args) {
      const result = nextRound(host.params, args);
      if (result === undefined) answer(host, JSON.stringify(host.params.inputResponses ?? null));
      else host.complete(result);
    },
  },
  exit: {
    description: 'Exits with `code` and no answer.',
    run: (_host, args) => process.exit(Number(args.code ?? 0)),
  },
  crash: {
    description: 'Is killed, with no answer.',
    run: () => process.kill(process.pid, 'SIGKILL'),
  },
  'answer-and-exit': {
    description: 'Answers, without a newline if `unfinished`, and exits.',
    run(host, args) {
      const own = JSON.stringify({ jsonrpc: '2.0', id: host.id, result: { content: [], bye: true } });
      process.stdout.write(args.unfinished ? own : `${own}\n`, () => process.exit(0));
    },
  },
  'close-input': {
    description: 'Closes its input and says so on stderr, then answers after `ms`.',
    run(host, args) {
      process.stdin.destroy();
      // The loop leaves standard streams open.
      closeSync(0);
      process.stderr.write('input closed\n');
      setTimeout(() => answer(host, 'deaf'), Number(args.ms ?? 0));
    },
  },
  'close-output': {
    description: 'Closes its output and lives on.',
    run() {
      // process.stdout refuses to be closed.
      closeSync(1);
      setInterval(() => {}, 1_000);
    },
  },
  'ping-flood': {
    description: 'Stops reading and pings without end; never answers.',
    run(host) {
      process.stdin.pause();
      let sent = 0;
      const more = () => {
        for (let i = 0; i < 100; i += 1) {
          sent += 1;
          host.send({ id: `ping-${sent}`, method: 'ping' });
        }
        if (process.stdout.writableNeedDrain) process.stdout.once('drain', more);
        else setImmediate(more);
      };
      more();
    },
  },
  'stop-reading': {
    description: 'Answers, then reads nothing for `ms`.',
    run(host, args) {
      answer(host, 'not listening');
      process.stdin.pause();
      setTimeout(() => process.stdin.resume(), Number(args.ms));
    },
  },
};

export const TOOLS = Object.entries(tools).map(([name, { description }]) => ({
  name,
  description,
  inputSchema: { type: 'object' },
}));

export function runTool(host: ToolHost): void {
  const tool = tools[String(host.params.name)];
  if (tool) tool.run(host, (host.params.arguments ?? {}) as Meta);
  else host.fail(-32602, 'no such tool');
}

function answer(host: ToolHost, text: string): void {
  host.complete({ content: [{ type: 'text', text }] });
}

function progress(host: ToolHost, progressToken: unknown, value: number): void {
  host.send({ method: 'notifications/progress', params: { progressToken, progress: value } });
}
