// Many clients of both eras on one server, doing whatever comes to their minds at the same time: each gets exactly its
// own answers, progress and questions, and in the end nothing of it is held anywhere (F10, F21, F22, F23, F26).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type BridgeTables, watchBridge } from '../support/bridge-tables.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { type FuzzTarget, type Program, runProgram, type Step } from '../support/fuzzed-client.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const GONE_WITHIN_MS = 8_000;
const PARKED = { timeoutMs: 2_000, max: 1_000, maxPerPrincipal: 1_000 };

const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.constantFrom<Step>({ what: 'echo' }, { what: 'list' }, { what: 'log' }, { what: 'listen' }),
  fc.record({ what: fc.constant('progress' as const), reports: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    what: fc.constant('give up' as const),
    afterMs: fc.constantFrom(0, 1, 5, 20, 40),
    asking: fc.boolean(),
  }),
  fc.record({
    what: fc.constant('ask' as const),
    feature: fc.constantFrom('elicitation' as const, 'elicitation' as const, 'sampling' as const),
    reply: fc.constantFrom(
      'accept' as const,
      'accept' as const,
      'decline' as const,
      'forget' as const,
      'answer twice' as const,
    ),
  }),
);
const program: fc.Arbitrary<Program> = fc.record({
  era: fc.constantFrom('legacy' as const, 'modern' as const),
  features: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  listens: fc.boolean(),
  together: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
});
const crowd = fc.array(program, { minLength: 3, maxLength: 7 });
/** One of them brings the server down, sooner or later. */
const fatalCrowd = fc
  .tuple(crowd, program)
  .map(([others, { steps, ...rest }]): Program[] => [
    ...others,
    { ...rest, together: false, steps: [...steps, { what: 'crash' }, { what: 'list' }] },
  ]);

async function runAll(target: FuzzTarget, programs: readonly Program[]): Promise<void> {
  const outcomes = await Promise.allSettled(programs.map((each) => runProgram(target, each)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function assertNothingHeld(tables: BridgeTables, gateway: StartedGateway): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  const left = async () => {
    const { sessions, servers } = await gateway.status();
    const inFlight = Object.values(servers).reduce((sum, server) => sum + Number(server.inFlight), 0);
    const held = { ...tables.held(), sessions, inFlight };
    return Object.entries(held).filter(([, count]) => count !== 0);
  };
  while ((await left()).length > 0 && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(await left(), []);
}

for (const era of ['legacy', 'modern'] as const) {
  for (const wire of ['stdio', 'http'] as const) {
    describe(`a ${era} server over ${wire}`, () => {
      let tables: BridgeTables;
      let server: FaultyHttpServer | undefined;
      let gateway: StartedGateway;
      before(async () => {
        tables = watchBridge();
        server = wire === 'http' ? await startFaultyHttpServer({ era }) : undefined;
        gateway = await startGateway({
          ...(server
            ? { http: { url: server.url } }
            : { stdio: { switches: [`--era=${era}`], maxLinks: 64 } }),
          gateway: { parked: PARKED },
          overrides: { questionPatienceMs: 200 },
        });
      });
      after(async () => {
        await gateway.close();
        await server?.close();
        tables.stop();
      });

      test('each client gets exactly its own', async () => {
        const target: FuzzTarget = { url: gateway.url, era, fragile: false, crash: async () => {} };
        await fc.assert(
          fc.asyncProperty(crowd, (programs) => runAll(target, programs)),
          { numRuns: 6, endOnFailure: true },
        );
      });

      test('also when the server goes away in the middle of it', async () => {
        const target: FuzzTarget = {
          url: gateway.url,
          era,
          fragile: true,
          async crash(client) {
            if (server) server.breakConnections();
            else await client.ask('tools/call', { name: 'crash', arguments: {} });
          },
        };
        await fc.assert(
          fc.asyncProperty(fatalCrowd, (programs) => runAll(target, programs)),
          // A child that keeps dying is not started again at once.
          { numRuns: server ? 4 : 2, endOnFailure: true },
        );
      });

      test('in the end nothing is held', () => assertNothingHeld(tables, gateway));
    });
  }
}
