// What a stdio server can give at best: a client of a few lines that has so many requests in the pipe at a time and
// writes the next as each is answered. Nobody is told apart, nothing may fail. Arguments: the server's command.
import { spawn } from 'node:child_process';
import type { LoadJob, LoadOutcome } from './load-job.ts';
import { quantilesOf } from './quantiles.ts';

const [command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
const asked = new Map<number, number>();
let latencies: number[] = [];
let params = '';
let over = true;
let lastId = 0;
let unread = '';
let idle = () => {};

child.stdout.setEncoding('utf8').on('data', (text: string) => {
  const lines = (unread + text).split('\n');
  unread = lines.pop() ?? '';
  const now = performance.now();
  let next = '';
  for (const line of lines) {
    const { id } = JSON.parse(line) as { id: number };
    latencies.push(now - (asked.get(id) ?? now));
    asked.delete(id);
    if (!over) next += request(now);
  }
  if (next !== '') child.stdin.write(next);
  if (over && asked.size === 0) idle();
});
process.on('message', (job: LoadJob) => void run(job).then((outcome) => process.send?.(outcome)));
process.on('SIGTERM', () => {
  child.kill();
  process.exit(0);
});

async function run({ requests, concurrency, forMs }: LoadJob): Promise<LoadOutcome> {
  const bytes = requests[0]?.bytes ?? '';
  params = JSON.stringify(JSON.parse(bytes.slice(bytes.indexOf('\r\n\r\n') + 4)).params);
  latencies = [];
  over = false;
  const startedAt = performance.now();
  child.stdin.write(Array.from({ length: concurrency }, () => request(startedAt)).join(''));
  await new Promise((resolve) => setTimeout(resolve, forMs));
  over = true;
  const answered = latencies.length;
  const elapsedMs = performance.now() - startedAt;
  await new Promise<void>((resolve) => {
    idle = resolve;
  });
  return {
    answered,
    finished: latencies.length,
    failed: 0,
    firstFailure: undefined,
    elapsedMs,
    ...quantilesOf(latencies),
  };
}

function request(now: number): string {
  lastId += 1;
  asked.set(lastId, now);
  return `{"jsonrpc":"2.0","id":${lastId},"method":"tools/call","params":${params}}\n`;
}
