// What is measured with what: each group is run in rounds of its own, with an nginx of its own to be compared with.
import type { Call } from './load/client-requests.ts';
import { startPipeClient } from './load/loader.ts';
import { placed } from './machine.ts';
import type { Contestant } from './rounds.ts';
import { contestantOf, type Stage } from './stage.ts';
import { startPeerPrograms } from './targets/peer-programs.ts';
import { startRawServer, stdioServerCommand } from './targets/raw.ts';
import { requestsFor, type Target } from './targets/target.ts';

export interface Group {
  readonly title: string;
  readonly concurrencies: readonly number[];
  readonly contestants: readonly Contestant[];
}

export const GROUP_NAMES = [
  'small',
  'legacy',
  'events',
  '100kb',
  '10mb',
  'eras',
  'stdio',
  'features',
  'flat',
] as const;
export type GroupName = (typeof GROUP_NAMES)[number];

const SMALL: Call = { era: 'modern', size: 'small', events: false };
const LEGACY: Call = { ...SMALL, era: 'legacy' };
const LEASE = 1_000;

export const GROUPS: Readonly<Record<GroupName, (stage: Stage) => Promise<Group>>> = {
  small: smallCalls,
  legacy: legacyCalls,
  events: (stage) =>
    sizedCalls(stage, { ...SMALL, events: true }, { name: 'events', concurrencies: [16, 64] }),
  '100kb': (stage) => sizedCalls(stage, { ...SMALL, size: 'kb100' }, { name: '100kb', concurrencies: [16] }),
  '10mb': (stage) => sizedCalls(stage, { ...SMALL, size: 'mb10' }, { name: '10mb', concurrencies: [4] }),
  eras: callsAcrossEras,
  stdio: stdioCalls,
  features: costOfFeatures,
  flat: costOfMore,
};

async function smallCalls(stage: Stage): Promise<Group> {
  const server = await stage.server('modern');
  const servers = { raw: { url: urlOf(server) } };
  const contestants: Contestant[] = [];
  const add = async (name: string, target: Target) => {
    contestants.push(await contestantOf(stage, { name, target, call: SMALL }));
  };
  if (!stage.quick) await add('direct', await stage.own(startRawServer('target', { era: 'modern' })));
  await stage.withNginx(server, (nginx) => add('nginx', nginx));
  if (!stage.quick) await add('undici-proxy', await stage.undiciProxy(server));
  await add('portico-http', await stage.portico({ servers }));
  await stage.withRedis(async (redisUrl) => {
    if (!stage.quick) await add('portico-redis', await stage.portico({ servers, redisUrl }));
    await add('portico-redis-lease', await stage.portico({ servers, redisUrl, lease: LEASE }));
  });
  return {
    title: 'A small JSON answer, 2026-07-28 on both sides',
    concurrencies: stage.quick ? [16, 64] : [1, 16, 64],
    contestants,
  };
}

async function legacyCalls(stage: Stage): Promise<Group> {
  const server = await stage.server('legacy');
  const contestants: Contestant[] = [];
  await stage.withNginx(server, async (target) => {
    contestants.push(await contestantOf(stage, { name: 'nginx-legacy', target, call: LEGACY }));
  });
  const servers = { raw: { url: urlOf(server) } };
  for (const [name, isolation] of [
    ['portico-http-legacy', 'auto'],
    ['portico-http-legacy-shared', 'shared'],
  ] as const) {
    const target = await stage.portico({ servers: { raw: { ...servers.raw, isolation } } });
    contestants.push(await contestantOf(stage, { name, target, call: LEGACY }));
  }
  return {
    title:
      'A small JSON answer in sessions of 2025-11-25 on both sides, a link to the server each or one for all',
    concurrencies: [16, 64],
    contestants,
  };
}

async function sizedCalls(
  stage: Stage,
  call: Call,
  { name, concurrencies }: { name: string; concurrencies: readonly number[] },
): Promise<Group> {
  const server = await stage.server('modern');
  const contestants: Contestant[] = [];
  const add = async (row: string, target: Target) => {
    contestants.push(await contestantOf(stage, { name: `${row}-${name}`, target, call }));
  };
  await stage.withNginx(server, (nginx) => add('nginx', nginx));
  await add('undici-proxy', await stage.undiciProxy(server));
  await add('portico-http', await stage.portico({ servers: { raw: { url: urlOf(server) } } }));
  return { title: `2026-07-28 on both sides: ${name}`, concurrencies, contestants };
}

async function callsAcrossEras(stage: Stage): Promise<Group> {
  const [modern, legacy] = [await stage.server('modern'), await stage.server('legacy')];
  const contestants: Contestant[] = [];
  await stage.withNginx(modern, async (target) => {
    contestants.push(await contestantOf(stage, { name: 'nginx-eras', target, call: SMALL }));
  });
  for (const [name, server, call] of [
    ['portico-modern-to-modern', modern, SMALL],
    ['portico-legacy-to-modern', modern, LEGACY],
    ['portico-modern-to-legacy', legacy, SMALL],
    ['portico-legacy-to-legacy', legacy, LEGACY],
  ] as const) {
    const target = await stage.portico({ servers: { raw: { url: urlOf(server) } } });
    contestants.push(await contestantOf(stage, { name, target, call }));
  }
  return { title: 'Small calls within an era and across', concurrencies: [16], contestants };
}

async function stdioCalls(stage: Stage): Promise<Group> {
  const contestants: Contestant[] = [];
  const server = await stage.server('legacy');
  await stage.withNginx(server, async (target) => {
    contestants.push(await contestantOf(stage, { name: 'nginx-stdio', target, call: LEGACY }));
  });
  const bare = stage.keep(startPipeClient(stdioServerCommand('modern')));
  const said = await requestsFor({ ...server, tokens: [undefined] }, SMALL);
  contestants.push({
    name: 'stdio-direct',
    pids: () => [bare.pid],
    load: (shape) => bare.run({ ...shape, port: 0, requests: said, leastBytes: 0 }),
  });
  const portico = (era: 'modern' | 'legacy') => {
    const [command, args] = placed('others', stdioServerCommand(era));
    return stage.portico({ servers: { raw: { command, args, isolation: 'shared' } } });
  };
  contestants.push(
    await contestantOf(stage, { name: 'portico-stdio', target: await portico('modern'), call: SMALL }),
    await contestantOf(stage, {
      name: 'portico-stdio-legacy',
      target: await portico('legacy'),
      call: LEGACY,
    }),
  );
  for (const [name, target] of await startPeerPrograms(stage)) {
    contestants.push(await contestantOf(stage, { name, target, call: LEGACY }));
  }
  return {
    title: 'HTTP to one stdio server, 2025-11-25 (portico-stdio: 2026-07-28)',
    concurrencies: [16, 64],
    contestants,
  };
}

async function costOfFeatures(stage: Stage): Promise<Group> {
  const server = await stage.server('modern');
  const servers = { raw: { url: urlOf(server) } };
  const contestants: Contestant[] = [];
  await stage.withNginx(server, async (target) => {
    contestants.push(await contestantOf(stage, { name: 'nginx-features', target, call: SMALL }));
  });
  const all = ['auth', 'limits', 'audit', 'log'] as const;
  const add = async (name: string, without: readonly (typeof all)[number][]) => {
    const target = await stage.portico({ servers, without });
    contestants.push(await contestantOf(stage, { name, target, call: SMALL }));
  };
  await add('portico-everything', []);
  for (const feature of all) await add(`portico-without-${feature}`, [feature]);
  await add('portico-bare', all);
  return { title: 'What each feature costs', concurrencies: [16], contestants };
}

/** More servers, more tools, more sessions: a call should cost the same. */
async function costOfMore(stage: Stage): Promise<Group> {
  const few = await stage.server('modern');
  const many = await stage.server('modern', 5_000);
  const legacy = await stage.server('legacy');
  const contestants: Contestant[] = [];
  await stage.withNginx(few, async (target) => {
    contestants.push(await contestantOf(stage, { name: 'nginx-flat', target, call: SMALL }));
  });
  const others = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`other-${index}`, { url: urlOf(few) }]));
  const raw = { raw: { url: urlOf(few) } };
  for (const [name, options] of [
    ['portico-1-server', { servers: raw, path: '/mcp/raw' }],
    ['portico-100-servers', { servers: { ...raw, ...others(99) }, path: '/mcp/raw' }],
    ['portico-2-servers-as-one', { servers: { ...raw, ...others(1) }, prefix: 'raw__' }],
    ['portico-100-servers-as-one', { servers: { ...raw, ...others(99) }, prefix: 'raw__' }],
    ['portico-5000-tools', { servers: { raw: { url: urlOf(many) } }, path: '/mcp/raw' }],
  ] as const) {
    contestants.push(await contestantOf(stage, { name, target: await stage.portico(options), call: SMALL }));
  }
  for (const sessions of [64, 10_000]) {
    const target = await stage.portico({ servers: { raw: { url: urlOf(legacy), isolation: 'shared' } } });
    contestants.push(
      await contestantOf(stage, { name: `portico-${sessions}-sessions`, target, call: LEGACY, sessions }),
    );
  }
  return { title: 'More servers, more tools, more sessions', concurrencies: [16], contestants };
}

function urlOf({ port, path }: Target): string {
  return `http://127.0.0.1:${port}${path}`;
}
