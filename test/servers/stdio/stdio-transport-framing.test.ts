// What a child may print, and how it may cut it, without costing anyone an answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GatewayError } from '../../../src/errors.ts';
import { startRig } from '../../support/stdio-rig.ts';

const MIB = 1024 * 1024;
const ALL_PLANES = 'ascii é € 😀 \u2028 \u2029 "quoted" \\ end';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bufferedBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

function isUnavailable(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'server-unavailable';
}

/** A whole answer to the call, as a server writes it. */
function frame(text: string): string {
  return `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}]}}`;
}

test('F16: characters of every width arrive whole, from a child that writes byte by byte', async (t) => {
  const rig = await startRig(t, ['--framing=byte-by-byte']);
  const texts = await Promise.all([1, 2, 3].map(() => rig.text('echo', { text: ALL_PLANES })));
  assert.deepEqual(texts, [ALL_PLANES, ALL_PLANES, ALL_PLANES]);
});

test('F16: two children cut within characters do not mix', async (t) => {
  const rigs = await Promise.all([1, 2].map(() => startRig(t, ['--framing=byte-by-byte'])));
  const texts = await Promise.all(
    rigs.flatMap((rig, n) => [1, 2, 3].map(() => rig.text('echo', { text: `${n}${ALL_PLANES}` }))),
  );
  assert.deepEqual(
    texts,
    [0, 0, 0, 1, 1, 1].map((n) => `${n}${ALL_PLANES}`),
  );
});

for (const [framing, noiseLines] of [
  ['crlf', 0],
  ['bom', 0],
  ['blank-lines', 0],
  ['noise', 5],
  ['banner', 1],
  ['banner-glued', 1],
  ['half-line', 1],
  ['half-glued', 1],
] as const) {
  test(`F17: every answer is found in output with ${framing}`, async (t) => {
    const rig = await startRig(t, [`--framing=${framing}`]);
    assert.equal(await rig.text('echo', { text: ALL_PLANES }), ALL_PLANES);
    assert.equal(rig.transport.stats.noiseLines, noiseLines);
    assert.equal(await rig.text('echo', { text: '' }), '');
    assert.deepEqual(rig.unsolicited, []);
    assert.equal(rig.transport.open, true);
  });
}

test('F17: noise is logged once in a while, short and without secrets', async (t) => {
  const secret = 'correct-horse-battery';
  const rig = await startRig(t, [], { config: { env: { DB_PASSWORD: secret } } });
  const noise = `\u001b[31mconnecting with ${secret}, api_key=abc123def, Bearer zzz999yyy8\u001b[0m\n`;
  for (let i = 0; i < 20; i += 1)
    await rig.tool('raw', { text: `${noise}${'long '.repeat(1_000)}\n`, answer: true });
  assert.equal(rig.transport.stats.noiseLines, 40);
  const lines = rig.logs.filter((line) => line.includes('no JSON-RPC message'));
  assert.equal(lines.length, 1);
  const [line = ''] = lines;
  assert.match(line, /connecting with \[redacted\]/);
  assert.match(line, /"server":"faulty"/);
  assert.ok(line.length < 600, `${line.length} characters`);
  for (const hidden of [secret, 'abc123def', 'zzz999yyy8', '\\u001b'])
    assert.ok(!line.includes(hidden), hidden);
});

test('F17: frames glued together are each delivered, and what follows a frame is skipped', async (t) => {
  const rig = await startRig(t);
  const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"}{"}}';
  const outcome = rig.text('raw', { text: `${log}${log}words${frame('glued')} done\n` });
  assert.equal(await outcome, 'glued');
  assert.equal(rig.unsolicited.length, 2);
});

test('F17: our own frame in a log line of the server is no question of its', async (t) => {
  const rig = await startRig(t);
  const echo = '{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{}}';
  assert.equal(await rig.text('raw', { text: `<- ${echo}\n`, answer: true }), 'after raw');
  assert.deepEqual(rig.unsolicited, []);
});

test('F17: several messages in an array, as 2025-03-26 allows, are each taken', async (t) => {
  const rig = await startRig(t);
  const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
  assert.equal(await rig.text('raw', { text: `[${log},7,${frame('batched')}]\n` }), 'batched');
  assert.equal(rig.unsolicited.length, 1);
  assert.equal(rig.transport.stats.noiseLines, 1);
});

test('F17: the last answer needs no newline, and none is lost when the child exits right after it', async (t) => {
  for (const unfinished of [true, false]) {
    const rig = await startRig(t);
    const outcome = await rig.tool('answer-and-exit', { unfinished });
    assert.ok('result' in outcome && outcome.result.bye === true);
    assert.equal(await rig.gone, 'it exited with code 0');
  }
});

test('F18: 20 MiB in one line come through, in time that is linear', async (t) => {
  const rig = await startRig(t);
  const timeMs = async (bytes: number) => {
    const start = performance.now();
    const text = await rig.text('big', { bytes });
    assert.equal(text.length, bytes);
    return performance.now() - start;
  };
  await timeMs(20 * MIB);
  const small = Math.min(await timeMs(2 * MIB), await timeMs(2 * MIB));
  const large = Math.min(await timeMs(20 * MIB), await timeMs(20 * MIB));
  t.diagnostic(`2 MiB ${small.toFixed(0)} ms, 20 MiB ${large.toFixed(0)} ms`);
  assert.ok(large < 50 * Math.max(small, 4), `2 MiB: ${small} ms, 20 MiB: ${large} ms`);
});

test('F18: an endless line fails the calls, ends that child alone and gives the memory back', async (t) => {
  const rig = await startRig(t, ['--ignore-eof'], { config: { maxMessageBytes: 32 * MIB } });
  const other = await startRig(t);
  const before = bufferedBytes();
  const calls = ['never', 'endless', 'never'].map((name) => rig.tool(name));
  for (const outcome of await Promise.allSettled(calls)) {
    assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason));
    assert.equal(outcome.reason.details.reason, 'message-too-large');
    assert.doesNotMatch(outcome.reason.message, /xxx|\d/);
  }
  assert.equal(rig.closed.length, 1);
  assert.equal((await rig.transport.exited).signal, 'SIGTERM');
  await assert.rejects(rig.tool('echo'), isUnavailable);
  assert.equal(await other.text('echo', { text: 'unharmed' }), 'unharmed');
  // V8 frees buffers in the background of a collection, so one look may come too early.
  let kept = bufferedBytes() - before;
  for (let look = 0; look < 50 && kept >= 2 * MIB; look += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    kept = bufferedBytes() - before;
  }
  assert.ok(kept < 2 * MIB, `${kept} bytes are still held`);
});

test('F18: a message before an oversized one in the same write is delivered', async (t) => {
  const rig = await startRig(t, [], { config: { maxMessageBytes: 1_000 } });
  const outcome = await rig.tool('answer-then-endless', { bytes: 2_000 });
  assert.deepEqual(outcome, { result: { content: [] } });
  await rig.gone;
});

test('F18: a message of exactly the limit passes, one byte more does not', async (t) => {
  const overhead = Buffer.byteLength(frame('').replace('$ID', '1'));
  const limit = 2_000;
  const fits = await startRig(t, [], { config: { maxMessageBytes: limit } });
  const text = 'y'.repeat(limit - overhead);
  assert.equal(await fits.text('raw', { text: `${frame(text)}\n` }), text);
  const tooLong = await startRig(t, [], { config: { maxMessageBytes: limit } });
  await assert.rejects(tooLong.tool('raw', { text: `${frame(`${text}y`)}\n` }), /size limit/);
});

test('F18: an answer nested a hundred thousand levels deep fails its call, not the gateway', async (t) => {
  const rig = await startRig(t);
  for (const levels of [600, 100_000]) {
    await assert.rejects(rig.tool('deep', { levels }), (error) => {
      assert.ok(error instanceof GatewayError && error.details.reason === 'bad-answer');
      return true;
    });
  }
  assert.ok('result' in (await rig.tool('deep', { levels: 400 })));
  await rig.tool('raw', { text: `${'['.repeat(100_000)}\n`, answer: true });
  await rig.tool('raw', { text: `${'{"id":'.repeat(100_000)}\n`, answer: true });
  assert.equal(await rig.text('echo', { text: 'alive' }), 'alive');
});
