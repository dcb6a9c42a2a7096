// The tools of the faulty server: each misbehaves in one way, as its description says, in the call that asks for it.
import { PROCESS_TOOLS } from './faulty-process-tools.ts';
import { QUESTION_TOOLS } from './faulty-questions.ts';
import { answer, type Meta, progress, type RequestId, type Tool, type ToolHost } from './faulty-tool-host.ts';

const tools: Readonly<Record<string, Tool>> = {
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
  ...QUESTION_TOOLS,
  ...PROCESS_TOOLS,
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
