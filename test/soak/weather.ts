// What happens to servers during a soak: children are killed, connections break, sessions are forgotten.
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultyHttpServer } from '../support/faulty-http-server.ts';
import { type Child, childrenOf } from './children.ts';

export interface WeatherOptions {
  readonly gatewayPid: number;
  readonly httpServers: readonly FaultyHttpServer[];
  readonly everyMs: number;
}

export interface WeatherReport {
  kills: number;
  httpFaults: number;
}

/** Of the kills: those that may hit any child at all. */
const SHARED_SHARE = 0.1;

export async function makeWeather(
  signal: AbortSignal,
  { gatewayPid, httpServers, everyMs }: WeatherOptions,
  report: WeatherReport,
): Promise<void> {
  while (!signal.aborted) {
    await delay(everyMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const unlucky = victimOf(gatewayPid);
    if (unlucky !== undefined && kill(unlucky.pid)) report.kills += 1;
    for (const server of httpServers) {
      disturb(server);
      report.httpFaults += 1;
      // It remembers every request, for tests that ask; here nobody does.
      server.received.length = 0;
    }
  }
}

/**
 * Mostly somebody's own child. One that serves all is left alone for up to half a minute once it has died again and
 * again: were it hit as often, there would soon be nobody to kill.
 */
function victimOf(gatewayPid: number): Child | undefined {
  const children = childrenOf(gatewayPid);
  const chosen = Math.random() < SHARED_SHARE ? children : children.filter(({ personal }) => personal);
  return chosen[Math.floor(Math.random() * chosen.length)];
}

function disturb(server: FaultyHttpServer): void {
  const roll = Math.random();
  if (roll < 0.2) server.breakConnections();
  else if (roll < 0.4) server.forgetSessions();
  else if (roll < 0.6) server.fault('tools/call', { reset: 'mid-body' }, 1);
  else if (roll < 0.8) server.fault('tools/call', { answer: { status: 500 } }, 1);
  else server.fault('tools/call', { strays: true, framing: 'events' }, 1);
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // It ended by itself in between.
    return false;
  }
}
