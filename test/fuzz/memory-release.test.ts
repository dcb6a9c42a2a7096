// Whatever clients and servers do to each other, in whatever order: what was held for them is given back to the byte.
// `startGateway` holds the end of each run to it; here it is held also while the gateway runs on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { sessionLimits } from '../support/legacy-http.ts';
import type { RawExchange } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const VISITORS = 10;
const STEPS = 6;
const MB = 1024 * 1024;
/** Named, so that a run that fails can be made again. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`bytes are given back exactly, whatever happens on the way (SEED=${SEED})`, async () => {
  const random = mulberry32(SEED);
  const server = await startFaultyHttpServer({ era: 'legacy' });
  {
    await using gateway = await startGateway({
      servers: [
        httpServerConfig(server.url, { slug: 'http', name: 'http' }),
        faultyConfig(['--era=legacy'], { slug: 'stdio', name: 'stdio', isolation: 'session', maxLinks: 6 }),
        faultyConfig(['--era=modern'], { slug: 'modern', name: 'modern' }),
      ],
      // Small enough to be short at times, so that every kind of refusal happens too.
      gateway: { maxBufferedBytes: 2 * MB, ...sessionLimits({ idleTimeoutMs: 500 }) },
    });
    await Promise.all(Array.from({ length: VISITORS }, (_, index) => visit(gateway, index, random)));
    const until = performance.now() + 20_000;
    while ((await bufferedBytes(gateway)) > 0 && performance.now() < until) await delay(20);
    assert.equal(await bufferedBytes(gateway), 0);
  }
  await server.close();
});

async function visit(gateway: StartedGateway, index: number, random: () => number): Promise<void> {
  const server = ['http', 'stdio', 'modern'][index % 3] ?? '';
  const url = `${gateway.url}/${server}`;
  const client =
    random() < 0.5 ? new ModernClient(url) : await openSession(url).catch(() => new ModernClient(url));
  for (let step = 0; step < STEPS; step += 1) {
    const exchanges = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      begin(client, server, random),
    );
    await Promise.all(exchanges.map((exchange) => leave(exchange, random)));
  }
  if (!(client instanceof ModernClient) && random() < 0.5) await client.delete().catch(() => {});
  await client[Symbol.asyncDispose]();
}

function begin(client: ModernClient | RawSession, server: string, random: () => number): RawExchange {
  const bytes = Math.floor(random() * MB);
  // Not a line without an end: on a child that stays, it is rightly held for as long as the child says no more.
  const deadly = server === 'http' ? ['never'] : ['crash', 'exit'];
  const names = ['echo', 'big', 'big', 'progress', 'wait', ...(random() < 0.2 ? deadly : [])];
  const name = names[Math.floor(random() * names.length)] ?? 'echo';
  const args = { text: 'x'.repeat(bytes >> 1), bytes, ms: 20, steps: 3 };
  return client.start('tools/call', { name, arguments: args }, { meta: { progressToken: 1 } });
}

/** Reads all of it, or lets it lie for a while, or goes at once, or after the first bytes. */
async function leave(exchange: RawExchange, random: () => number): Promise<void> {
  const way = random();
  await delay(random() * 30);
  if (way < 0.2) exchange.abort();
  const answer = await Promise.race([exchange.answer.catch(() => undefined), delay(500)]);
  if (way < 0.4) await delay(random() * 60);
  else if (way < 0.6) await answer?.chunk();
  else await Promise.race([answer?.text().catch(() => {}), delay(500)]);
  exchange.abort();
  await exchange.closed;
}

async function bufferedBytes({ adminUrl }: StartedGateway): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^portico_buffered_bytes (\S+)$/m.exec(text)?.[1]);
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
