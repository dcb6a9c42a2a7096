// Homes that die, are silent, or are not who they should be: whoever hands over knows whether anything was done.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { ReplicaClient } from '../../src/replicas/replica-client.ts';
import { replicaKeys } from '../../src/replicas/replica-keys.ts';
import { ReplicaRefusal, ReplicaUnreachable, type ReplyFrame } from '../../src/replicas/replicas.ts';
import { TAKEN } from '../../src/replicas/reply-frames.ts';
import { SignedLines } from '../../src/replicas/signed-lines.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { EDGE, framesOf, HOME, SECRET, sentExchange } from '../support/replica-wire.ts';

const keys = replicaKeys(SECRET);
const NEVER = new AbortController().signal;
const ACCEPT = '{"accept":202}';
const OPEN = '{"open":{}}';
const RECORD = '{"record":{"outcome":"ok"}}';

const LONG = JSON.stringify({ send: { message: { jsonrpc: '2.0', method: 'x'.repeat(20_000) } } });

/** What the home does with each request; the last for all further ones. */
type Answer = (response: ServerResponse, signed: SignedLines) => void;

const cut: Answer = (response) => response.socket?.destroy();
const refuse: Answer = (response) => response.writeHead(403).end('{}');
const takeNotThis: Answer = (response) => response.writeHead(422).end('{}');
const silent: Answer = () => {};
const say =
  (...texts: readonly string[]): Answer =>
  (response, signed) =>
    response.end(linesOf(signed, texts));
const well = say(ACCEPT, RECORD);
/** What somebody makes of three lines on their way. */
const changed =
  (change: (taken: string, accept: string, record: string) => readonly string[]): Answer =>
  (response, signed) => {
    const [taken = '', accept = '', record = ''] = [TAKEN, ACCEPT, RECORD].map((text) => signed.sign(text));
    response.end(change(taken, accept, record).join(''));
  };

function linesOf(signed: SignedLines, texts: readonly string[]): string {
  return [TAKEN, ...texts].map((text) => signed.sign(text)).join('');
}

interface OddHome {
  readonly client: ReplicaClient;
  readonly budget: BufferBudget;
  readonly home: { id: string; url: string };
  /** Nonces of the envelopes that came. */
  readonly nonces: string[];
  readonly requests: IncomingMessage[];
}

async function oddHome(t: TestContext, answers: readonly Answer[], silenceMs = 5_000): Promise<OddHome> {
  const nonces: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer(async (request, response) => {
    const [line = ''] = (await text(request)).split('\n');
    const { nonce } = JSON.parse(line) as { nonce: string };
    const answer = answers[Math.min(nonces.length, answers.length - 1)];
    nonces.push(nonce);
    requests.push(request);
    answer?.(response, new SignedLines(keys.answer, nonce));
  });
  // Whoever lets go is the client.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const budget = new BufferBudget(1024 * 1024);
  const timing = { connectTimeoutMs: 1_000, silenceMs };
  const client = new ReplicaClient({ self: EDGE, keys, budget, timing, maxFrameBytes: () => 10_000 });
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, budget, nonces, requests, home: { id: HOME, url: `http://127.0.0.1:${port}` } };
}

const isLost = (thrown: unknown) =>
  thrown instanceof GatewayError &&
  thrown.code === 'server-unavailable' &&
  thrown.details.reason === 'replica_lost';
const isUnreachable = (thrown: unknown) =>
  thrown instanceof ReplicaUnreachable && !(thrown instanceof ReplicaRefusal);

const CASES: readonly {
  readonly name: string;
  readonly answers: readonly Answer[];
  readonly outcome: 'answered' | 'unreachable' | 'lost';
  /** How often it was asked. */
  readonly asked: number;
  readonly silenceMs?: number;
}[] = [
  { name: 'answers', answers: [well], outcome: 'answered', asked: 1 },
  {
    name: 'closes an old connection, and takes a new one',
    answers: [cut, well],
    outcome: 'answered',
    asked: 2,
  },
  { name: 'took it before the connection broke', answers: [cut, refuse], outcome: 'lost', asked: 2 },
  {
    name: 'took it, and not again, before the connection broke',
    answers: [cut, takeNotThis],
    outcome: 'lost',
    asked: 2,
  },
  { name: 'breaks every connection', answers: [cut], outcome: 'lost', asked: 2 },
  { name: 'takes nothing', answers: [refuse], outcome: 'unreachable', asked: 1 },
  {
    name: 'is somebody else',
    answers: [
      (response) =>
        response.end(linesOf(new SignedLines(replicaKeys(`${SECRET}!`).answer, 'x'), [ACCEPT, RECORD])),
    ],
    outcome: 'unreachable',
    asked: 1,
  },
  {
    name: 'repeats an answer to something else',
    answers: [(response) => response.end(linesOf(new SignedLines(keys.answer, 'x'), [ACCEPT, RECORD]))],
    outcome: 'unreachable',
    asked: 1,
  },
  {
    name: 'speaks of something else',
    answers: [(response) => response.end('<html>\n')],
    outcome: 'unreachable',
    asked: 1,
  },
  {
    name: 'dies in mid-answer',
    answers: [
      (response, signed) =>
        response.write(`${linesOf(signed, [OPEN])}${signed.sign(RECORD).slice(0, 50)}`, () =>
          response.socket?.destroy(),
        ),
    ],
    outcome: 'lost',
    asked: 1,
  },
  { name: 'ends without the record', answers: [say(ACCEPT)], outcome: 'lost', asked: 1 },
  { name: 'says what nobody knows', answers: [say('{"dance":1}', RECORD)], outcome: 'lost', asked: 1 },
  { name: 'says too much at once', answers: [say(LONG, RECORD)], outcome: 'lost', asked: 1 },
  { name: 'never answers', answers: [silent], outcome: 'lost', asked: 1, silenceMs: 200 },
  {
    name: 'falls silent in mid-answer',
    answers: [(response, signed) => response.write(linesOf(signed, [OPEN]))],
    outcome: 'lost',
    asked: 1,
    silenceMs: 200,
  },
  {
    name: 'says for long only that it is there',
    answers: [
      (response, signed) => {
        response.write(signed.sign(TAKEN));
        let beats = 0;
        const timer = setInterval(() => {
          beats += 1;
          response.write('\n');
          if (beats < 12) return;
          clearInterval(timer);
          response.end(signed.sign(ACCEPT) + signed.sign(RECORD));
        }, 100);
      },
    ],
    outcome: 'answered',
    asked: 1,
    silenceMs: 600,
  },
];

const CHANGES: Readonly<Record<string, Parameters<typeof changed>[0]>> = {
  'a letter is changed': (taken, accept, record) => [taken, accept.replace('202', '204'), record],
  'a signature is changed': (taken, accept, record) => [
    taken,
    accept.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')),
    record,
  ],
  'a line is left out': (taken, _accept, record) => [taken, record],
  'a line comes twice': (taken, accept, record) => [taken, accept, accept, record],
  'lines change places': (taken, accept, record) => [taken, record, accept],
  'a line comes in that nobody signed': (taken, accept, record) => [taken, `${OPEN}\n`, accept, record],
  'a line of another answer comes in': (taken, accept, record) => {
    const other = new SignedLines(keys.answer, 'another nonce');
    other.sign(TAKEN);
    return [taken, other.sign(ACCEPT), accept, record];
  },
  'the end is cut off': (taken, accept) => [taken, accept],
};

for (const [name, change] of Object.entries(CHANGES)) {
  test(`F01 where of an answer ${name} on its way, nothing more of it is taken`, async (t) => {
    const { client, home, budget } = await oddHome(t, [changed(change)]);
    const frames: ReplyFrame[] = [];
    const forwarding = async () => {
      for await (const frame of await client.forward(home, sentExchange(), NEVER)) frames.push(frame);
    };
    await assert.rejects(forwarding(), isLost);
    // What was told before is what the home has said.
    assert.deepEqual(frames, /twice|cut off/.test(name) ? [{ accept: 202 }] : []);
    assert.equal(budget.usedBytes, 0);
  });
}

for (const { name, answers, outcome, asked, silenceMs } of CASES) {
  test(`F01 a home that ${name}: ${outcome}`, async (t) => {
    const { client, home, nonces, budget } = await oddHome(t, answers, silenceMs);
    const forwarding = async () => framesOf(await client.forward(home, sentExchange(), NEVER));
    if (outcome === 'answered') assert.deepEqual((await forwarding())[0], { accept: 202 });
    else await assert.rejects(forwarding(), outcome === 'lost' ? isLost : isUnreachable);
    assert.equal(nonces.length, asked);
    assert.equal(new Set(nonces).size, 1, 'asked again, it is the same envelope: nothing is done twice');
    assert.equal(budget.usedBytes, 0);
  });
}

test('a home without room is there all the same', async (t) => {
  const { client, home, nonces } = await oddHome(t, [(response) => response.writeHead(429).end('{}')]);
  await assert.rejects(client.forward(home, sentExchange(), NEVER), { code: 'no-capacity' });
  assert.equal(nonces.length, 1);
});

test('F01 a home that cannot take a message is there all the same', async (t) => {
  const { client, home, nonces } = await oddHome(t, [takeNotThis, well]);
  await assert.rejects(client.forward(home, sentExchange(), NEVER), ReplicaRefusal);
  assert.equal(nonces.length, 1);
  assert.deepEqual((await framesOf(await client.forward(home, sentExchange(), NEVER)))[0], { accept: 202 });
});

for (const [aheadMs, told] of [
  [60_000, /^its clock is (59|60) s ahead of the one here: keep the clocks of all replicas in step/],
  [-60_000, /^its clock is (60|61) s behind the one here/],
  [5_000, /^the replica answered 422$/],
] as const) {
  test(`F01 a home that takes nothing, whose clock is ${aheadMs / 1_000} s ahead: it is told whether that is why`, async (t) => {
    const date = () => new Date(Date.now() + aheadMs).toUTCString();
    const { client, home } = await oddHome(t, [
      (response) => response.writeHead(422, { date: date() }).end('{}'),
    ]);
    await assert.rejects(
      client.forward(home, sentExchange(), NEVER),
      (thrown) => thrown instanceof ReplicaRefusal && told.test(thrown.message),
    );
  });
}

test('F01 where nobody listens nothing was done', async (t) => {
  const { client } = await oddHome(t, [well]);
  const home = { id: HOME, url: `http://127.0.0.1:${await freePort()}` };
  await assert.rejects(client.forward(home, sentExchange(), NEVER), isUnreachable);
});

test('what is aborted before, and while, it is handed over ends with the reason', async (t) => {
  const { client, home } = await oddHome(t, [silent]);
  const reason = new Error('left');
  await assert.rejects(client.forward(home, sentExchange(), AbortSignal.abort(reason)), reason);
  const leaving = new AbortController();
  const forwarding = client.forward(home, sentExchange(), leaving.signal);
  setImmediate(() => leaving.abort(reason));
  await assert.rejects(forwarding, reason);
});

test('connections serve one message after the other, and their heads say nothing of the caller', async (t) => {
  const { client, home, requests } = await oddHome(t, [well]);
  for (let count = 0; count < 6; count += 1)
    await framesOf(await client.forward(home, sentExchange(), NEVER));
  assert.ok(new Set(requests.map(({ socket }) => socket)).size <= 2);
  const [{ headers } = { headers: {} }] = requests;
  const names = ['host', 'connection', 'portico-signature', 'content-length'];
  assert.deepEqual(Object.keys(headers).sort(), names.sort());
});

test('a client that is closed, or lets go of a home, keeps no connection to it', async (t) => {
  for (const end of [
    (client: ReplicaClient) => client.close(),
    (client: ReplicaClient) => client.keepOnly(new Set()),
  ]) {
    const { client, home, requests } = await oddHome(t, [well]);
    await framesOf(await client.forward(home, sentExchange(), NEVER));
    const [request] = requests;
    assert.equal(request?.socket.destroyed, false);
    await end(client);
    await eventually('the connection is closed', () => request?.socket.destroyed);
  }
});

test('who lets go of a home hears what it has to say all the same', async (t) => {
  const waiting = Promise.withResolvers<() => void>();
  const { client, home } = await oddHome(t, [
    (response, signed) => {
      response.write(linesOf(signed, [OPEN]));
      waiting.resolve(() => response.end([ACCEPT, RECORD].map((line) => signed.sign(line)).join('')));
    },
  ]);
  const answer = await client.forward(home, sentExchange(), NEVER);
  client.keepOnly(new Set());
  const goOn = await waiting.promise;
  goOn();
  assert.deepEqual((await framesOf(answer))[1], { accept: 202 });
});
