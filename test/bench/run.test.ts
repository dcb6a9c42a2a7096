// That the benchmark runs and tells what it promises; never how fast anything is.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { AnswerReader } from '../../bench/load/answer-reader.ts';
import { startLoader } from '../../bench/load/loader.ts';
import { has } from '../../bench/machine.ts';
import { parseOptions } from '../../bench/options.ts';
import { type Contestant, runRounds } from '../../bench/rounds.ts';
import { median } from '../support/median.ts';

const RUN = join(import.meta.dirname, '../../bench/run.ts');
const FIELDS = ['name', 'concurrency', 'rps', 'ratioToNginx', 'p99Ms', 'cpuUsPerRequest', 'rssMb'];

test('a quick run writes its rows as JSON', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'rows.json');
  const { stdout } = await promisify(execFile)(process.execPath, [
    RUN,
    ...['--quick', '--rounds', '1', '--seconds', '0.2', '--json', file],
  ]);
  const rows = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>[];
  for (const row of rows) {
    assert.deepEqual(Object.keys(row), FIELDS);
    for (const field of ['concurrency', 'rps', 'p99Ms', 'rssMb'] as const) {
      assert.ok(Number(row[field]) > 0, `${row.name} has ${row[field]} as its ${field}`);
    }
    // The clock of /proc counts in hundredths of a second, of which so short a run may have none.
    assert.equal(typeof row.cpuUsPerRequest, 'number');
    assert.equal(typeof row.ratioToNginx, has('nginx') ? 'number' : 'object');
  }
  const measured = rows.map(({ name, concurrency }) => `${name} ${concurrency}`);
  assert.ok(measured.includes('portico-http 16') && measured.includes('portico-http 64'));
  for (const [program, row] of [
    ['nginx', 'nginx'],
    ['redis-server', 'portico-redis-lease'],
  ] as const) {
    assert.equal(measured.includes(`${row} 64`), has(program));
    assert.equal(stdout.includes(`${program} is not installed`), !has(program));
  }
});

test('what the command line says is taken, or refused with what is wrong', () => {
  const options = parseOptions(['--only', 'small,stdio', '--peer', 'other=http://127.0.0.1:9/mcp?a=b']);
  assert.ok(options !== 'help');
  assert.deepEqual(options.groups, ['small', 'stdio']);
  assert.deepEqual(
    options.peers.map(({ name, url }) => [name, url.href]),
    [['other', 'http://127.0.0.1:9/mcp?a=b']],
  );
  assert.equal(parseOptions(['--help']), 'help');
  assert.throws(() => parseOptions(['--only', 'large']), /--only: there is no large, only small/);
  assert.throws(() => parseOptions(['--peer', 'other']), /--peer: expected NAME=URL, not other/);
  assert.throws(() => parseOptions(['--rounds', '0']), /--rounds: expected a number above zero/);
  assert.throws(() => parseOptions(['--fast']), /--fast/);
});

test('what answers wrongly is not measured', async () => {
  const wrong: Contestant = {
    name: 'wrong',
    pids: () => [],
    load: async () => ({
      answered: 9,
      finished: 9,
      failed: 1,
      firstFailure: '500 oops',
      elapsedMs: 1_000,
      p50Ms: 1,
      p99Ms: 1,
    }),
  };
  const rounds = runRounds([wrong], { concurrency: 1, rounds: 1, forMs: 1, half: false });
  await assert.rejects(rounds, /wrong answered 1 of 10 wrongly: 500 oops/);
});

test('an answer of another status, id or size, an error and none at all are wrong', async (t) => {
  const right = '{"jsonrpc":"2.0","id":7,"result":{"text":"long enough"}}';
  const answers: Record<string, { status?: number; body?: string }> = {
    '/right': { body: right },
    '/status': { status: 500, body: right },
    '/id': { body: right.replace('7', '77') },
    '/error': { body: right.replace('result', 'error') },
    '/size': { body: '{"jsonrpc":"2.0","id":7,"result":{}}' },
    '/none': {},
  };
  const server = createServer((request, response) => {
    const { status = 200, body } = answers[request.url ?? ''] ?? {};
    if (body === undefined) return request.socket.destroy();
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const loader = startLoader();
  t.after(async () => {
    await loader.stop();
    server.close();
  });
  for (const path of Object.keys(answers)) {
    const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const job = { port, requests: [{ id: '7', bytes }], concurrency: 1, forMs: 1, leastBytes: 50 };
    const { finished, failed, firstFailure } = await loader.run(job);
    const isRight = path === '/right';
    assert.deepEqual([finished > 0, failed > 0], [isRight, !isRight], `${path}: ${firstFailure}`);
  }
});

test('a ratio is one of neighbours in a round, and a row holds the medians', async () => {
  const contestant = (name: string, rates: number[]): Contestant => ({
    name,
    pids: () => [],
    load: async () => {
      const answered = rates.shift() ?? 0;
      return {
        answered,
        finished: answered,
        failed: 0,
        firstFailure: undefined,
        elapsedMs: 1_000,
        p50Ms: 1,
        p99Ms: 2,
      };
    },
  });
  const contestants = [contestant('nginx', [100, 200, 400]), contestant('other', [50, 80, 100])];
  const [, other] = await runRounds(contestants, { concurrency: 1, rounds: 3, forMs: 1, half: false });
  assert.equal(other?.rps, 80);
  assert.equal(other?.ratioToNginx, 0.4);
  assert.deepEqual(other?.ratios, [0.25, 0.5]);
  assert.equal(median([1, 2, 3, 10]), 2.5);
});

test('answers are told apart from what is none, however they are cut up on the wire', () => {
  const body = '{"jsonrpc":"2.0","id":7,"result":{}}';
  const whole = [
    `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
  ];
  const reader = new AnswerReader();
  for (const text of whole) {
    for (const pieceBytes of [1, 3, text.length]) {
      for (let at = 0; at < text.length; at += pieceBytes) {
        const isLast = at + pieceBytes >= text.length;
        assert.equal(reader.read(Buffer.from(text.slice(at, at + pieceBytes))), isLast);
      }
      assert.equal(reader.status, 200);
      assert.equal(reader.bodyBytes, body.length);
      assert.ok(reader.bodyStart.startsWith('{"jso'));
      reader.next();
    }
  }
});
