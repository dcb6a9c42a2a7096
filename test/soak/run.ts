// `npm run soak [minutes]`: clients of both eras come and go, servers fail, children are killed. No answer may be lost,
// doubled or another's, memory and descriptors stay flat, and nothing is left at the end. Ends with 1 where it is not so.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionEnd } from '../../src/bridge/sessions/session-ends.ts';
import { median } from '../support/median.ts';
import { flatness } from './flatness.ts';
import { Ledger } from './ledger.ts';
import { arrivals } from './people.ts';
import { type SoakRig, startSoakRig } from './soak-rig.ts';
import { visitUntil } from './visits.ts';
import { readUnknownSessions, readVitals, type Vitals } from './vitals.ts';
import { makeWeather, type WeatherReport } from './weather.ts';

const VISITORS = 24;
const SAMPLE_EVERY_MS = 1_000;
const SAMPLES_A_LINE = 10;
const WEATHER_EVERY_MS = 1_000;
/** Sessions that were abandoned, idle links, their children: all of it is gone by then. */
const CALM_WITHIN_MS = 30_000;
/** Of the shared servers one child each, for the lists; of the personal one two that are warm besides. */
const CALM_PROCESSES = 5;
/** What the heap grows to in the first ten minutes, most of it garbage that nobody needs to collect yet. */
const WARM_RSS_MB = 480;
/** What ends a session that nobody has ended: both take many seconds in which its client says nothing. */
const IDLE_ENDS: readonly SessionEnd[] = ['expired', 'gave_way'];
/** Of a second, while nobody is there. */
const MAX_IDLE_CPU = 0.05;
const IDLE_MS = 4_000;

const minutes = Number(process.argv[2] ?? 2);
if (!(minutes > 0)) throw new Error('usage: npm run soak [minutes], a number above 0');

const ledger = new Ledger();
const weather: WeatherReport = { kills: 0, httpFaults: 0 };
const samples: Vitals[] = [];
const startedAt = performance.now();

await using rig = await startSoakRig();
const ending = new AbortController();
const over = ending.signal;
const { gateway, httpServers } = rig;
const comers = arrivals(rig.people);
await Promise.all([
  ...Array.from({ length: VISITORS }, () => visitUntil(over, { views: rig.views, comers }, ledger)),
  makeWeather(over, { gatewayPid: gateway.pid, httpServers, everyMs: WEATHER_EVERY_MS }, weather),
  sampleUntil(over, rig),
  untilAllCame(rig).then(() => ending.abort()),
]);
const left = await untilCalm(rig);
const problems = [
  ...judgeSamples(rig),
  ...left,
  ...(await judgeUnknownSessions(rig)),
  ...(await judgeIdle(rig)),
  ...(await endInOrder(rig)),
];
const { answered, failedAsTold, faultCount, faults } = ledger;
if (faultCount > 0) problems.push(`${faultCount} answers were not as they should be:`, ...faults);
if (failedAsTold > answered) problems.push('too few calls were answered');
if (ledger.visitors < rig.people.length) problems.push(`only ${ledger.visitors} people came`);
print(
  `${line()}; ${ledger.visitors} people came, ${ledger.visits} times; ${ledger.residents.homes} personal processes, ${weather.kills} killed, ${weather.httpFaults} faults of HTTP servers; failed as told ${ledger.failures}`,
);
for (const problem of problems) print(`FAILED: ${problem}`);
print(problems.length === 0 ? 'soak: all well' : `soak: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The time of the soak; on a machine so busy that not everybody has come by then, up to as long again. */
async function untilAllCame({ people }: SoakRig): Promise<void> {
  await delay(minutes * 60_000);
  const until = performance.now() + minutes * 60_000;
  while (ledger.visitors < people.length && performance.now() < until) await delay(250);
}

async function sampleUntil(signal: AbortSignal, { gateway: target }: SoakRig): Promise<void> {
  while (!signal.aborted) {
    await delay(SAMPLE_EVERY_MS, undefined, { signal }).catch(() => {});
    samples.push(await readVitals(target));
    if (samples.length % SAMPLES_A_LINE === 0) print(line());
  }
}

function line(): string {
  const recent = samples.slice(-SAMPLES_A_LINE);
  const middle = (figure: keyof Vitals) => median(recent.map((vitals) => vitals[figure])).toFixed(0);
  return [
    `${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
    `answered ${ledger.answered}, cancelled ${ledger.cancelled}, resumed ${ledger.resumed}`,
    `failed as told ${ledger.failedAsTold}, faults ${ledger.faultCount}`,
    `RSS ${middle('rssMb')} MB, descriptors ${middle('descriptors')}, processes ${middle('processes')}`,
    `sessions ${middle('sessions')}, buffered ${middle('bufferedBytes')} bytes`,
  ].join('; ');
}

function judgeSamples({ maxProcesses }: SoakRig): string[] {
  const found: string[] = [];
  const rss = flatness(
    samples.map(({ rssMb }) => rssMb),
    { factor: 1.15, plus: 10, warm: WARM_RSS_MB },
  );
  const descriptors = flatness(
    samples.map((vitals) => vitals.descriptors),
    { factor: 1.25, plus: 20 },
  );
  const processes = Math.max(...samples.map((vitals) => vitals.processes));
  print(`RSS ${rss.early.toFixed(0)} MB, later ${rss.late.toFixed(0)} MB; at most ${processes} processes`);
  if (!rss.flat) found.push(`RSS grew from ${rss.early.toFixed(0)} to ${rss.late.toFixed(0)} MB`);
  if (!descriptors.flat) found.push(`descriptors grew from ${descriptors.early} to ${descriptors.late}`);
  if (processes > maxProcesses) found.push(`${processes} processes at a time`);
  return found;
}

/** Nobody is there any more: what is still held belongs to nobody. */
async function untilCalm({ gateway: target }: SoakRig): Promise<string[]> {
  const until = performance.now() + CALM_WITHIN_MS;
  for (;;) {
    const vitals = await readVitals(target);
    const { sessions, openReplies, openStreams, parkedCalls, bufferedBytes } = vitals;
    const held = { sessions, openReplies, openStreams, parkedCalls, bufferedBytes };
    const isCalm = Object.values(held).every((value) => value === 0) && vitals.processes <= CALM_PROCESSES;
    if (isCalm) return [];
    if (performance.now() > until) return [`still held: ${JSON.stringify({ ...held, ...vitals })}`];
    await delay(250);
  }
}

/** A client that a busy machine keeps from its session may find it gone; one that is gone for no reason is lost. */
async function judgeUnknownSessions({ gateway: target }: SoakRig): Promise<string[]> {
  const counts = await readUnknownSessions(target.adminUrl);
  const told = [...counts].map(([end, count]) => `${end || 'no word'}: ${count}`).join(', ');
  if (told !== '') print(`sessions that were unknown: ${told}`);
  const explained = IDLE_ENDS.reduce((sum, end) => sum + (counts.get(end) ?? 0), 0);
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (all === explained && ledger.sessionsUnknown <= explained) return [];
  return [`of ${ledger.sessionsUnknown} unknown sessions the gateway explains ${explained}: ${told}`];
}

async function judgeIdle({ gateway: target }: SoakRig): Promise<string[]> {
  const before = await readVitals(target);
  await delay(IDLE_MS);
  const after = await readVitals(target);
  const share = (after.cpuSeconds - before.cpuSeconds) / (IDLE_MS / 1_000);
  print(`idle: ${(share * 100).toFixed(1)} % of a core`);
  return share <= MAX_IDLE_CPU ? [] : [`idle, it takes ${(share * 100).toFixed(0)} % of a core`];
}

async function endInOrder({ gateway: target }: SoakRig): Promise<string[]> {
  try {
    const code = await target.stop();
    return code === 0 ? [] : [`the gateway ended with code ${code}`];
  } catch (thrown) {
    return [String(thrown)];
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
