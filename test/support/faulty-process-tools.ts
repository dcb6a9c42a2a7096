// Tools of the faulty server that misbehave as a process: its streams, its end, what it has from its parent.
import { closeSync } from 'node:fs';
import { answer, type Tool } from './faulty-tool-host.ts';

export const PROCESS_TOOLS: Readonly<Record<string, Tool>> = {
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
